// The HTTP code around every route. It is the same in development, tests and production, on Node and on Deno.
import { type Handler, Hono, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { AppError, unavailable } from '../basics/errors.ts';
import { buildBusy, refusesSlot } from '../identity/password/passwords.ts';
import type { Fetch, RefuseHeaders } from '../runtime/listener.ts';
import { refuseEncodedBody } from '../web/body-limit.ts';
import { Deadline } from '../web/deadline.ts';
import { pathOf } from '../web/incoming.ts';
import { prefersHtml, type Visit } from '../web/requests.ts';
import { answerError, makeAnswers, type Refusing } from './answer-error.ts';
import { createAnswerToAll } from './answer-to-all.ts';
import type { Backend } from './backend.ts';
import { createDoor } from './door.ts';
import { buildHealthRoutes } from './health.ts';
import { createPageTurns } from './page-turns.ts';
import { type Pages, type Route, spellForHono } from './route.ts';
import { buildSecureHeaders, readHeaders } from './secure-headers.ts';
import {
  assetsPath,
  type Env,
  finishHeaders,
  hideFromOthers,
  leadFromSlash,
  limitBodies,
  logRequest,
  nameRequest,
  openVisit,
  refuseOddRequest,
  refuseOtherHost,
  requireOwnPage,
} from './steps.ts';

export type ShellOptions = {
  backend: Backend;
  pages: Pages;
  staticFiles: MiddlewareHandler;
  /** Returns false while the service starts. Until then, only /healthz answers. */
  isUp: () => boolean;
  /** Returns true when the process is stopping. It is then no longer ready, and closes its connections. */
  isDraining: () => boolean;
  answerWithinMs: number;
  isDevelopment?: boolean;
};

const changes = ['POST', 'PUT', 'PATCH', 'DELETE'];

export type Shell = {
  fetch: Fetch;
  refuseHeaders: RefuseHeaders;
};

export async function createShell(options: ShellOptions): Promise<Shell> {
  const { backend, pages, isUp, isDraining, isDevelopment } = options;
  const { config, deps } = backend;
  const routes = [...buildHealthRoutes(deps, isDraining), ...pages.routes];
  const pageTurns = createPageTurns(config);

  const app = new Hono<Env>();
  app.use(nameRequest(config));
  app.use(openVisit(backend, options.answerWithinMs));
  app.use(logRequest(backend, routes));
  const securityHeaders = await readHeaders(buildSecureHeaders(config, isDevelopment));
  const unavailableAnswers = await makeAnswers(unavailable(), securityHeaders, options);
  const refusing: Refusing = { backend, pages, pageTurns, unavailablePage: unavailableAnswers.page };
  const answerBy = buildAnswerBy(options, pageTurns);
  app.use(finishHeaders(securityHeaders, routes, isDraining));
  if (!config.production) app.use(refuseOtherHost(config.baseUrl));
  app.use(refuseOddRequest);
  app.on(changes, '*', requireOwnPage(config.issuer), refuseEncodedBody);
  app.use(limitBodies(backend));
  // Everything below /admin belongs to the site, even if it is not a page, because the site hides it from people who are not
  // staff.
  const isOfSite = ({ isPage, path }: Route) => isPage || path.startsWith('/admin/');
  for (const route of routes.filter((route) => !isOfSite(route)))
    app.all(spellForHono(route.path), answerBy(route));

  // This is a separate app, because Hono takes longer to find a path among the patterns of the pages.
  const site = new Hono<Env>();
  app.notFound((c) => site.fetch(c.req.raw, c.env));
  site.use(
    compress({ contentTypeFilter: /^(text\/(html|css|javascript)|application\/javascript|image\/svg)/ }),
  );
  site.use(isDevelopment ? '*' : assetsPath, options.staticFiles);
  site.use(hideFromOthers(backend));
  for (const route of routes.filter(isOfSite)) site.all(spellForHono(route.path), answerBy(route));
  site.all('*', leadFromSlash(routes));

  for (const part of [app, site]) {
    part.onError((error, c) => answerError(error, c.req.raw, c.env.visit, refusing));
  }
  const tooLarge = await makeAnswers(new AppError('headers_too_large'), securityHeaders, options);
  const refuseHeaders: RefuseHeaders = (accept) =>
    prefersHtml(new Request(config.baseUrl, { headers: { accept } })) ? tooLarge.page : tooLarge.problem;
  const fetch = createDoor({
    fetch: (request, peer) => app.fetch(request, { address: peer.address, node: peer.node }),
    isUp,
    isDraining,
    countApart: () => backend.countHashing() + backend.heldRequests.countHeld() + pageTurns.countWaiting(),
    unavailable: unavailableAnswers,
    busy: await makeAnswers(buildBusy(), securityHeaders, options),
    refusesLogin() {
      const isRefused = refusesSlot();
      if (isRefused) deps.metrics.countLogin('busy');
      return isRefused;
    },
    deps,
  });
  return { fetch, refuseHeaders };
}

function buildAnswerBy(
  { backend, isDevelopment, answerWithinMs }: ShellOptions,
  pageTurns: Refusing['pageTurns'],
) {
  const answerToAll = createAnswerToAll();

  /** Makes the answer without the cookies and the query of the first person who asks. */
  const makeForAll = ({ handle }: Route, path: string, params: Record<string, string>) => {
    const visit: Visit = { requestId: '', address: '', deadline: new Deadline(answerWithinMs) };
    return handle(new Request(backend.config.baseUrl + encodeURI(path)), { backend, visit }, params);
  };

  return (route: Route): Handler<Env> =>
    (c) => {
      const { path, methods, headers, handle, isPage, isPublic } = route;
      const { visit } = c.env;
      const { raw, method } = c.req;
      c.env.headers = headers;
      c.env.route = path;
      if (!methods.includes(method)) {
        throw new AppError('method_not_allowed', { headers: { Allow: methods.join(', ') } });
      }
      const params = c.req.param();
      const serve = () => {
        const isRead = method === 'GET' || method === 'HEAD';
        const make = () => handle(raw, { backend, visit }, params);
        if (!isRead || !(isPublic || isPage)) return make();
        if (!isPublic || isDevelopment) return pageTurns.take(visit, make);
        // The path is decoded to one form, so that each answer is kept only once.
        const asked = decodeURIComponent(pathOf(raw.url));
        // A decoded `?` or `#` would begin a query in the URL that is built from this path. Then one page would have endless
        // paths.
        if (/[?#]/.test(asked)) throw new AppError('not_found');
        return answerToAll(raw, asked, () => makeForAll(route, asked, params));
      };
      return visit.deadline.enforce(serve());
    };
}
