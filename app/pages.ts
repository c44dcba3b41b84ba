// What the HTTP shell takes from the built app: resource routes to call directly, and Remix for the pages.
import { createRequestHandler, type ServerBuild } from '@remix-run/node';
import type { Pages } from '../server/shell.ts';

export function createPages(build: ServerBuild): Pages {
  const pages: Pages = { resources: [], pages: [] };
  for (const route of Object.values(build.routes)) {
    const { default: component, loader, action } = route?.module ?? {};
    const path = `/${route?.path ?? ''}`;
    if (!route || route.id === 'root') continue;
    if (component) {
      const mode = import.meta.env.DEV ? 'development' : 'production';
      const render = createRequestHandler(onlyWith(route.id, build), mode);
      pages.pages.push({ path, takesForms: action !== undefined, render });
    } else pages.resources.push({ path, loader, action } as Pages['resources'][number]);
  }
  return pages;
}

/**
 * The build with this page alone: Remix tries the patterns of all routes several times for each request, and which
 * page it is for, the shell knows already. Browsers get the whole list, in a file.
 */
function onlyWith(id: string, build: ServerBuild): ServerBuild {
  const pick = <T>(routes: Record<string, T>) =>
    Object.fromEntries(Object.entries(routes).filter(([key]) => key === id || key === 'root'));
  return {
    ...build,
    routes: pick(build.routes),
    assets: { ...build.assets, routes: pick(build.assets.routes) },
  };
}
