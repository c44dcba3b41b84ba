import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { serveStatic } from '@hono/node-server/serve-static';
import type { MiddlewareHandler } from 'hono';
import { buildFolder } from '../runtime/files.ts';
import type { Pages } from './route.ts';

/** The message is one sentence, which is printed without a stack. */
export class BuildError extends Error {}

export type AppBuild = { entry: { module: { createPages: (build: unknown) => Pages } } };

export async function loadPages(): Promise<Pages> {
  const file = `${buildFolder}/server/index.js`;
  if (!existsSync(file)) throw new BuildError('The pages have not been built. Run "npm run build" first.');
  const build: AppBuild = await import(pathToFileURL(file).href);
  return build.entry.module.createPages(build);
}

/** Serves files with a digest of their content in the name. Browsers may keep them for ever, because they never change. */
export function serveBuiltFiles(): MiddlewareHandler {
  const serve = serveStatic({ root: `${buildFolder}/client` });
  return async (c, next) => {
    const response = await serve(c, next);
    // If `response` is not a Response, the file does not exist, and the next handler has answered.
    if (response instanceof Response)
      response.headers.set('Cache-Control', 'public, max-age=31536000, immutable');
    return response;
  };
}
