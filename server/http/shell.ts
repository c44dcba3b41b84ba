// The HTTP shell around every route: request id, log line, metrics, security headers, size limit, our own origin, allowed
// methods, refusals as problems or pages. It is the same in development, tests and production, on Node and on Deno.
import { type Handler, Hono, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { type RequestIdVariables, requestId } from 'hono/request-id';
import type { Backend } from '../backend.ts';
import { AppError, buildProblem } from '../errors.ts';
import { userAgentOf } from '../identity/device.ts';
import { setUpPath } from '../identity/second-factor.ts';
import type { Config } from '../settings/config.ts';
import { addHeaders, buildProblemResponse, redirect, toAppError } from './answers.ts';
import { limitBody, refuseEncodedBody } from './body-limit.ts';
import { Deadline } from './deadline.ts';
import { createDoor, type Fetch, type Made } from './door.ts';
import { buildHealthRoutes } from './health.ts';
import { clientAddress, isForThisMachine, pathOf, readPlace, refuseUnroutable } from './incoming.ts';
import { prefersHtml, requireOwnOrigin, type Visit } from './requests.ts';
import { buildFindPattern, type Pages, type Route } from './route.ts';
import { buildSecureHeaders, readHeaders } from './secure-headers.ts';
import { readTrace } from './trace-context.ts';

export type ShellOptions = {
  backend: Backend;
  pages: Pages;
  /** Serves the files of the built client, or calls next. */
  staticFiles: MiddlewareHandler;
  /** False while the service starts: only /healthz answers then. */
  isUp: () => boolean;
  /** True once the process is stopping: it is not ready any more and closes its connections. */
  isDraining: () => boolean;
  /** Allows the bundler's own scripts and socket. */
  isDevelopment?: boolean;
};

type Env = {
  /** One object for each request, which all steps share. `headers` are those of its route, and `route` its pattern. */
  Bindings: { address: string; visit: Visit; headers?: Record<string, string>; route?: string };
  Variables: RequestIdVariables & { secureHeadersNonce?: string };
};
type Step = MiddlewareHandler<Env>;

const changes = ['POST', 'PUT', 'PATCH', 'DELETE'];
// Other systems call these with a credential of their own, not with a browser's cookie.
const crossOriginPaths = /^\/(?:integrations\/|demo\/\w+\/events$)/;
const assetsPath = '/assets/*';
const loginPaths = ['/login', '/login.data'];

export async function createShell(options: ShellOptions): Promise<Fetch> {
  const { backend, pages, isUp, isDraining, isDevelopment } = options;
  const { config, services } = backend;
  const routes = [...buildHealthRoutes(services, isDraining), ...pages.routes];

  const app = new Hono<Env>();
  app.use(nameRequest(config));
  app.use(openVisit(backend));
  app.use(logRequest(backend, routes));
  const securityHeaders = await readHeaders(buildSecureHeaders(config, false, isDevelopment));
  app.use(finishHeaders(securityHeaders, routes, isDraining));
  if (!config.production) app.use(refuseOtherHost(config.baseUrl));
  app.use(refuseOddRequest);
  app.on(changes, '*', requireOwnPage(config.issuer), refuseEncodedBody);
  app.use(limitBody);
  app.on('POST', loginPaths, requirePlace(backend));
  for (const route of routes.filter(({ isPage }) => !isPage)) app.all(route.path, answerBy(route, backend));

  // An app of its own: among the patterns of the pages Hono takes longer to find a path.
  const site = new Hono<Env>();
  app.notFound((c) => site.fetch(c.req.raw, c.env));
  site.use(buildSecureHeaders(config, true, isDevelopment));
  site.use(
    compress({ contentTypeFilter: /^(text\/(html|css|javascript)|application\/javascript|image\/svg)/ }),
  );
  site.use(isDevelopment ? '*' : assetsPath, options.staticFiles);
  for (const route of routes.filter(({ isPage }) => isPage)) site.all(route.path, answerBy(route, backend));
  site.all('*', () => {
    throw new AppError('not_found');
  });

  for (const part of [app, site]) {
    part.onError((error, c) => answerError(error, c.req.raw, c.env.visit, options));
  }
  return createDoor({
    fetch: (request, peer) => app.fetch(request, { ...peer }),
    isUp,
    isDraining,
    countApart: () => backend.countHashing() + backend.heldRequests.countHeld(),
    unavailable: {
      problem: await makeUnavailable('application/json', securityHeaders, options),
      page: await makeUnavailable('text/html', securityHeaders, options),
    },
    services,
  });
}

/** The refusal as it would be made for a request, but for its id. */
async function makeUnavailable(
  accept: string,
  securityHeaders: Record<string, string>,
  options: ShellOptions,
): Promise<Made> {
  const request = new Request(options.backend.config.baseUrl, { headers: { accept } });
  const visit = { requestId: '', address: '', cspNonce: '', deadline: new Deadline() };
  const error = new AppError('unavailable', { headers: { 'Retry-After': '5' } });
  // As the strictest route has it: the door knows none.
  const headers = { ...securityHeaders, 'referrer-policy': 'no-referrer' };
  const answer = addHeaders(await buildRefusal(error, request, visit, options), headers);
  return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
}

/** A proxy's own id counts. Anybody else's would let them choose what the log and the history say. */
function nameRequest({ trustsProxy }: Config): Step {
  const [kept, own] = [requestId(), requestId({ headerName: '' })];
  return (c, next) => (trustsProxy(c.env.address) ? kept : own)(c, next);
}

function openVisit({ config }: Backend): Step {
  return (c, next) => {
    const { raw } = c.req;
    const peer = c.env.address;
    const address = clientAddress(raw, peer, config.trustsProxy);
    c.env.visit = {
      requestId: c.get('requestId'),
      address,
      cspNonce: '',
      trace: readTrace(raw),
      deadline: new Deadline(),
      // Made only where they are asked for: few requests need one.
      get userAgent() {
        return userAgentOf(raw);
      },
      get place() {
        return readPlace(raw, peer, config);
      },
      get signal() {
        return raw.signal;
      },
    };
    return next();
  };
}

/** One line a request, and its part in the metrics. */
function logRequest({ services: { log, metrics } }: Backend, routes: Route[]): Step {
  const findPattern = buildFindPattern([...routes.map(({ path }) => path), assetsPath]);
  return async (c, next) => {
    const startedAt = performance.now();
    metrics.startRequest();
    await next();
    const ms = performance.now() - startedAt;
    const { visit } = c.env;
    const { userId, client, launchId, code } = visit;
    const { method } = c.req;
    // Never the query: it may hold a signed hand-off.
    const path = pathOf(c.req.url);
    // Some are refused before their route is looked for.
    const route = c.env.route ?? findPattern(path);
    const { status } = c.res;
    metrics.endRequest({ method, route, status, seconds: ms / 1_000, code });
    log.info(
      {
        requestId: visit.requestId,
        ...visit.trace,
        method,
        route,
        path,
        status,
        ms: Math.round(ms * 10) / 10,
        userId,
        client,
        launchId,
        code,
      },
      'request',
    );
  };
}

function finishHeaders(
  securityHeaders: Record<string, string>,
  routes: Route[],
  isDraining: () => boolean,
): Step {
  const findPattern = buildFindPattern(routes.map(({ path }) => path));
  const headersOf = new Map(routes.map(({ path, headers }) => [path, headers]));
  return async (c, next) => {
    await next();
    const answer = addHeaders(c.res, {
      ...securityHeaders,
      // Some are refused before their route is looked for.
      ...(c.env.route === undefined ? headersOf.get(findPattern(pathOf(c.req.url)) ?? '') : c.env.headers),
      // Hono would set it only on answers that are made through its own context.
      'x-request-id': c.get('requestId'),
      ...(isDraining() && { connection: 'close' }),
    });
    // First nothing: a Response assigned over another takes over that one's headers, at a cost.
    c.res = undefined;
    c.res = answer;
  };
}

/**
 * Local mode: a site that makes its name point to this machine (DNS rebinding) would be one origin with us, and read
 * what it likes. It gets no page either.
 */
function refuseOtherHost(baseUrl: string): Step {
  const detail = `In local mode this service answers only to names of this machine. Open ${baseUrl} instead.`;
  return async (c, next) => {
    if (isForThisMachine(c.req.raw)) return next();
    c.env.visit.code = 'invalid_request';
    return buildProblemResponse(new AppError('invalid_request', { detail }), baseUrl);
  };
}

const refuseOddRequest: Step = (c, next) => {
  const refusal = refuseUnroutable(c.req.raw);
  if (refusal) throw refusal;
  return next();
};

function requireOwnPage(issuer: string): Step {
  return (c, next) => {
    if (!crossOriginPaths.test(c.req.path)) requireOwnOrigin(c.req.raw, issuer);
    return next();
  };
}

/** Before a page takes the request apart: a flood of logins must cost no more than its refusal. */
function requirePlace(backend: Backend): Step {
  return (_, next) => {
    backend.requirePlace();
    return next();
  };
}

function answerBy({ path, methods, headers, handle }: Route, backend: Backend): Handler<Env> {
  return (c) => {
    const { visit } = c.env;
    c.env.headers = headers;
    c.env.route = path;
    if (!methods.includes(c.req.method)) {
      throw new AppError('method_not_allowed', { headers: { Allow: methods.join(', ') } });
    }
    visit.cspNonce = c.get('secureHeadersNonce') ?? '';
    return visit.deadline.enforce(handle(c.req.raw, { backend, visit }, c.req.param()));
  };
}

/** The one place that decides what leaves the building of an error: a problem, or a page where a browser asks. */
async function answerError(
  thrown: unknown,
  request: Request,
  visit: Visit,
  options: ShellOptions,
): Promise<Response> {
  const error = toAppError(thrown);
  visit.code = error.code;
  if (error.status >= 500) {
    const { requestId } = visit;
    const { log } = options.backend.services;
    log.error({ requestId, code: error.code, err: error.cause ?? error }, 'request failed');
  }
  return buildRefusal(error, request, visit, options);
}

/** Where what was refused can be had, and back. */
function leadToSetUp({ method, url }: Request): Response {
  const { pathname, search } = new URL(url);
  const next = method === 'GET' ? `?next=${encodeURIComponent(pathname + search)}` : '';
  return redirect(setUpPath + next, { 'Cache-Control': 'no-store' });
}

async function buildRefusal(
  error: AppError,
  request: Request,
  visit: Visit,
  { backend, pages }: ShellOptions,
): Promise<Response> {
  const { config } = backend;
  const refusal = buildProblemResponse(error, config.baseUrl);
  if (!prefersHtml(request)) return refusal;
  if (error.code === 'second_factor_required') return leadToSetUp(request);
  const page = await pages.showProblem(buildProblem(error, config.baseUrl), request, { backend, visit });
  const headers = new Headers(refusal.headers);
  headers.set('Content-Type', 'text/html; charset=utf-8');
  return new Response(page.body, { status: error.status, headers });
}
