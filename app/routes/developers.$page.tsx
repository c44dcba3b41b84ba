import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { DeveloperPage, developerLinks, developerMeta } from '../components/developers/developer-page.tsx';
import { loadDeveloperPage } from '../developers/load-page.server.ts';

export const handle = { isPublic: true };

export const links = developerLinks;

export const meta = developerMeta;

export const loader = ({ params, context }: LoaderFunctionArgs) =>
  loadDeveloperPage(params.page ?? '', context);

export default function Developers() {
  return <DeveloperPage {...useLoaderData<typeof loader>()} />;
}
