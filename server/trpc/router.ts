// The typed procedures: for the pages through a caller, for programs at /trpc (contract section 10).
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import type { Services } from '../backend.ts';
import type { Visit } from '../http.ts';
import { createCallerFactory, router } from './init.ts';
import { profileRouter } from './profile.ts';
import { sessionsRouter } from './sessions.ts';

const appRouter = router({ profile: profileRouter, sessions: sessionsRouter });

/** What a typed client of /trpc is made with. */
export type AppRouter = typeof appRouter;

const createAppCaller = createCallerFactory(appRouter);

export function createCaller(services: Services, request: Request, visit: Visit) {
  const headers = new Headers();
  return { caller: createAppCaller({ services, request, visit, headers }), headers };
}

export async function handleTrpc(services: Services, request: Request, visit: Visit): Promise<Response> {
  return fetchRequestHandler({
    endpoint: '/trpc',
    req: request,
    router: appRouter,
    allowBatching: false,
    createContext: ({ resHeaders }) => ({ services, request, visit, headers: resHeaders }),
    responseMeta: () => ({ headers: { 'Cache-Control': 'no-store' } }),
  });
}
