// All procedures. Programs call the procedures of contract 11.18 and 11.23 at /trpc. Pages call all of them directly.
import { fetchRequestHandler } from '@trpc/server/adapters/fetch';
import { isStaff } from '../../acts/staff.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readBody, type Visit } from '../../web/requests.ts';
import { activityRouter } from './activity.ts';
import { adminRouter, staffFormsRouter } from './admin.ts';
import { billingFormsRouter } from './admin-billing.ts';
import { filesFormsRouter } from './admin-files.ts';
import { invoiceFormsRouter } from './admin-invoices.ts';
import { billingRouter, contractsRouter, invoicesRouter } from './billing.ts';
import { emailRouter } from './email.ts';
import {
  createCallerFactory,
  lookUp,
  mergeRouters,
  router,
  staff,
  type TrpcContext,
  toRefusal,
} from './init.ts';
import { linksRouter, productsRouter } from './links.ts';
import { accountRouters } from './pages/account.ts';
import { invitationRouter, passwordMailRouter, signUpRouter } from './pages/arrive.ts';
import { billingPagesRouter, invoiceEmailRouter } from './pages/billing.ts';
import { deadLinksRouter } from './pages/dead-links.ts';
import { formsRouter } from './pages/forms.ts';
import { handOffRouter } from './pages/hand-off.ts';
import { keptMailsRouter } from './pages/kept-mails.ts';
import { confirmRouter, loginRouter, visitorRouter } from './pages/login.ts';
import { newAddressRouter, takeBackRouter } from './pages/recovery.ts';
import { profileRouter } from './profile.ts';
import { sessionsRouter } from './sessions.ts';

const peopleRouters = {
  profile: profileRouter,
  email: emailRouter,
  links: linksRouter,
  products: productsRouter,
  sessions: sessionsRouter,
  activity: activityRouter,
  contracts: contractsRouter,
  invoices: invoicesRouter,
  billing: billingRouter,
};

/** People who are not staff get this router. It has no `admin` (contract 12.6). */
const routerForPeople = router(peopleRouters);

/** Without a session, every name is refused in the same way, even if no procedure has it. */
const buildRouterForNobody = (name: string, { method }: Request) =>
  router({ [name]: method === 'POST' ? staff.mutation(() => {}) : staff.query(() => null) });

export const appRouter = router({ ...peopleRouters, admin: adminRouter });

/** The type of this router, for TypeScript programs that call /trpc. */
export type AppRouter = typeof appRouter;

export const pagesRouter = mergeRouters(
  appRouter,
  router({
    visitor: visitorRouter,
    forms: formsRouter,
    login: loginRouter,
    confirm: confirmRouter,
    signUp: signUpRouter,
    invitation: invitationRouter,
    passwordMail: passwordMailRouter,
    deadLinks: deadLinksRouter,
    handOff: handOffRouter,
    takeBack: takeBackRouter,
    newAddress: newAddressRouter,
    ...accountRouters,
    billingPages: billingPagesRouter,
    invoiceEmail: invoiceEmailRouter,
    keptMails: keptMailsRouter,
    staffForms: staffFormsRouter,
    booksForms: invoiceFormsRouter,
    billingForms: billingFormsRouter,
    filesForms: filesFormsRouter,
  }),
);

export const createProcedures = createCallerFactory(pagesRouter);

export type Procedures = ReturnType<typeof createProcedures>;

export async function handleTrpc(deps: Dependencies, request: Request, visit: Visit): Promise<Response> {
  const looked: TrpcContext['looked'] = {};
  const name = readName(request);
  const who = /^admin(?:\.|$)/.test(name) ? await findWho({ deps, request, visit, looked }) : 'people';
  const routers = {
    staff: () => appRouter,
    people: () => routerForPeople,
    nobody: () => buildRouterForNobody(name, request),
  };
  const response = await fetchRequestHandler({
    endpoint: '/trpc',
    req: await toReadRequest(request, visit),
    router: routers[who]() as typeof appRouter,
    allowBatching: false,
    createContext: ({ resHeaders }) => ({ deps, request, visit, headers: resHeaders, looked }),
    onError({ error }) {
      const refusal = toRefusal(error);
      visit.code = refusal.code;
      if (refusal.status >= 500)
        deps.log.error(
          { requestId: visit.requestId, code: refusal.code, err: refusal.cause ?? refusal },
          'request failed',
        );
    },
    responseMeta: ({ errors: [error] }) => ({
      headers: {
        ...(error && toRefusal(error).headers),
        'Cache-Control': 'no-store',
      },
    }),
  });
  // tRPC leaves this header out if it refuses a request before it knows the procedure.
  if (response.body) response.headers.set('Content-Type', 'application/json');
  return response;
}

/** Returns the name of the procedure, as tRPC reads it. */
const readName = ({ url }: Request) =>
  decodeURIComponent(new URL(url).pathname.replace(/^\/trpc\/?/, '').replace(/\/$/, ''));

async function findWho(asked: Omit<TrpcContext, 'headers'>): Promise<'staff' | 'people' | 'nobody'> {
  const session = await lookUp(asked);
  if (!session || session.state === 'suspended') return 'nobody';
  return isStaff(session.user) ? 'staff' : 'people';
}

/** Reads the body first, so that waiting for a slow sender does not count towards the deadline. */
async function toReadRequest(request: Request, visit: Visit): Promise<Request> {
  if (request.method !== 'POST') return request;
  const { url, method, headers } = request;
  return new Request(url, { method, headers, body: await readBody(request, visit) });
}
