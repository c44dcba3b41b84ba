// What the HTTP shell takes from the built app: resource routes to call directly, and Remix for the pages.
import { createRequestHandler, type ServerBuild } from '@remix-run/node';
import type { Pages } from '../server/shell.ts';

export function createPages(build: ServerBuild): Pages {
  const handle = createRequestHandler(build, import.meta.env.DEV ? 'development' : 'production');
  const pages: Pages = { resources: [], pages: [], render: (request, context) => handle(request, context) };
  for (const route of Object.values(build.routes)) {
    const { default: component, loader, action } = route?.module ?? {};
    const path = `/${route?.path ?? ''}`;
    if (!route || route.id === 'root') continue;
    if (component) pages.pages.push({ path, takesForms: action !== undefined });
    else pages.resources.push({ path, loader, action } as Pages['resources'][number]);
  }
  return pages;
}
