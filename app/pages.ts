// What the HTTP shell takes from the built app: resource routes to call directly, and Remix for the pages.
import { createRequestHandler, type ServerBuild } from '@remix-run/node';
import type { Pages } from '../server/shell.ts';

export function createPages(build: ServerBuild): Pages {
  const handle = createRequestHandler(build, import.meta.env.DEV ? 'development' : 'production');
  return {
    resources: Object.values(build.routes).flatMap((route) => {
      const { default: component, loader, action } = route?.module ?? {};
      // `*` is what is left when nothing else fits, pages included, so Remix decides on it.
      if (!route?.path || route.path === '*' || component) return [];
      return [{ path: `/${route.path}`, loader, action } as Pages['resources'][number]];
    }),
    render: (request, context) => handle(request, context),
  };
}
