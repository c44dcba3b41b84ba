import type { LoaderFunctionArgs } from '@remix-run/node';
import { loadDeveloperFile } from '../developers/load-file.server.ts';

export const handle = { isPublic: true };

export const loader = (args: LoaderFunctionArgs) => loadDeveloperFile('llms.txt', args);
