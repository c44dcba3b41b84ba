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
      pages.pages.push({ path, action, render } as Pages['pages'][number]);
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
  const routes = pick(build.routes);
  const page = routes[id];
  const action = page?.module.action;
  // The shell may have called it, in the hope that no page is needed after it.
  if (action)
    routes[id] = {
      ...page,
      module: { ...page.module, action: (args) => args.context.acted ?? action(args) },
    };
  return { ...build, routes, assets: { ...build.assets, routes: pick(build.assets.routes) } };
}
