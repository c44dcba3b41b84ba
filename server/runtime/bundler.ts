// Development (`npm run dev`): pages straight from source, through Vite, with hot reload. The shell around
// them is the same as ever. The backend comes through Vite too, so that an edit of it makes a new service
// in the same process: no restart, no second database.
import { relative } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import type { Pages } from '../shell.ts';
import type { AppBuild } from './build.ts';

type ServiceModule = typeof import('../service.ts');

export type Bundler = {
  pages: Pages;
  staticFiles: MiddlewareHandler;
  loadService: () => Promise<ServiceModule>;
  /** Called after each edit of the backend; what it throws is printed. */
  onServiceChange: (changed: (fresh: ServiceModule) => Promise<void>) => void;
  close: () => Promise<void>;
};

export async function startBundler(): Promise<Bundler> {
  const { createServer } = await import('vite');
  const vite = await createServer({ server: { middlewareMode: true }, appType: 'custom' });
  const load = async () => {
    const build = (await vite.ssrLoadModule('virtual:remix/server-build')) as AppBuild;
    return build.entry.module.createPages(build);
  };
  const { resources, pages } = await load();
  const loadService = async () => (await vite.ssrLoadModule('/server/service.ts')) as ServiceModule;
  return {
    pages: {
      // A new route needs a restart; what is in one does not.
      resources: resources.map(({ path }) => {
        const current = async () => (await load()).resources.find((resource) => resource.path === path);
        return {
          path,
          loader: async (args) => (await current())?.loader(args) as Promise<Response>,
          action: async (args) => (await current())?.action(args) as Promise<Response>,
        };
      }),
      pages: pages.map((page) => ({
        ...page,
        render: async (request, context) => {
          const current = (await load()).pages.find(({ path }) => path === page.path);
          return (current ?? page).render(request, context);
        },
      })),
    },
    staticFiles: async (c, next) => {
      const { incoming, outgoing } = c.env as HttpBindings;
      const isHandled = await new Promise<boolean>((done, failed) => {
        outgoing.once('finish', () => done(true));
        vite.middlewares(incoming, outgoing, (error: unknown) => (error ? failed(error) : done(false)));
      });
      return isHandled ? RESPONSE_ALREADY_SENT : next();
    },
    loadService,
    onServiceChange(changed) {
      vite.watcher.on('change', (file) => {
        if (!/^(server|db)[/\\]/.test(relative(vite.config.root, file))) return;
        loadService()
          .then(changed)
          .catch((error) => vite.config.logger.error(`The edit does not run: ${error.stack}`));
      });
    },
    close: () => vite.close(),
  };
}
