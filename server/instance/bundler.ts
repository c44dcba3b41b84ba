// For development (`npm run dev`). Vite loads pages and backend from source. An edited page shows at the next load. After an edit
// of the backend, a new service starts in the same process, on the same database.
import { relative } from 'node:path';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { MiddlewareHandler } from 'hono';
import type { AppBuild } from './build.ts';
import type { Pages } from './route.ts';

type ServiceModule = typeof import('./instance.ts');

export type Bundler = {
  pages: Pages;
  staticFiles: MiddlewareHandler;
  loadService: () => Promise<ServiceModule>;
  /** Registers what to call after each edit of the backend. If `changed` throws an error, the error is printed. */
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
  const { routes } = await load();
  const loadService = async () => (await vite.ssrLoadModule('/server/instance/instance.ts')) as ServiceModule;
  return {
    pages: {
      // A new route needs a restart, but an edited route does not.
      routes: routes.map((route) => ({
        ...route,
        async handle(...args) {
          const edited = (await load()).routes.find(({ path }) => path === route.path);
          return (edited ?? route).handle(...args);
        },
      })),
      showProblem: async (...args) => (await load()).showProblem(...args),
    },
    staticFiles: async (c, next) => {
      const { incoming, outgoing } = c.env.node as HttpBindings;
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
