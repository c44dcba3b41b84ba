// The HTTP shell around every route, the same in development, tests and production, on Node and on Deno:
// request id, log line, security headers, compression, size limit, our own origin, errors as problems or pages.
//
// Resource routes (those without a component) are called straight from Remix's build, with the Request as it
// arrived; Remix's own handler renders the pages. So the doors that Remix opens to loaders (`.data`, `_data`,
// rebuilt URLs, its own cross-site check) do not exist for the public endpoints.
import { Hono, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { isMigrated } from '../db/migrate.ts';
import type { Backend } from './backend.ts';
import { limitBody } from './body-limit.ts';
import { AppError, buildProblem, type Problem } from './errors.ts';
import {
  addHeaders,
  buildProblemResponse,
  prefersHtml,
  readBody,
  requireMethod,
  requireOwnOrigin,
  toAppError,
  type Visit,
} from './http.ts';
import { canonicalRequest, clientAddress, pathOf, readRequestId, refuseUnroutable } from './incoming.ts';
import { buildSecureHeaders, readHeaders } from './secure-headers.ts';

/** What a route gets: Remix's load context. */
export type RouteContext = {
  backend: Backend;
  visit: Visit;
  /** The refusal that the page /problems/{code} is to show, under whatever URL it came up. */
  problem?: Problem;
  /** What the page's action came to, called by the shell ahead of Remix. */
  acted?: Promise<unknown>;
  /** What a page's loader, action or component threw; the pages put it here, the shell answers it. */
  thrown?: unknown;
  /** The login was refused: the page is shown, also to who is logged in. */
  isLoginRefused?: boolean;
};

type RouteArgs = { request: Request; params: Record<string, string>; context: RouteContext };
type Render = (request: Request, context: RouteContext) => Promise<Response>;
type ResourceHandler = (args: RouteArgs) => Promise<Response>;

/** The part of Remix's server build that the shell reads. */
export type Pages = {
  /** Path patterns of the resource routes, with their handlers. */
  resources: { path: string; loader: ResourceHandler; action: ResourceHandler }[];
  /** Path patterns of the pages, what takes their forms, and Remix's request handler for each. */
  pages: { path: string; action?: ResourceHandler; render: Render }[];
};

export type Log = {
  info: (fields: object, message: string) => void;
  error: (fields: object, message: string) => void;
};

export type ShellOptions = {
  backend: Backend;
  pages: Pages;
  log: Log;
  /** Serves the files of the built client, or calls next. */
  staticFiles: MiddlewareHandler;
  /** True once the process is to stop: not ready any more, and connections are to be closed. */
  isDraining?: () => boolean;
  /** Development: the bundler's own scripts and socket are allowed. */
  isDevelopment?: boolean;
};

/** `address` is the peer's, as the runtime knows it. */
export type Fetch = (request: Request, peer: { address: string }) => Promise<Response>;

// Called by other systems with a credential of their own, not with a browser's cookie.
const crossOriginPaths = /^\/integrations\//;

type Env = { Bindings: { visit: Visit; context?: RouteContext }; Variables: { secureHeadersNonce?: string } };

export async function createShell(options: ShellOptions): Promise<Fetch> {
  const { backend, pages, log } = options;
  const { config } = backend;
  // Two: among the patterns of the pages, Hono needs a slower way to find a path.
  const app = new Hono<Env>();
  const site = new Hono<Env>();
  app.notFound((c) => site.fetch(c.req.raw, c.env));

  app.on(['POST', 'PUT', 'PATCH', 'DELETE'], '*', (c, next) => {
    if (!crossOriginPaths.test(c.req.path)) requireOwnOrigin(c.req.raw, config.issuer);
    return limitBody(c, next);
  });

  for (const { path, loader, action } of pages.resources) {
    app.all(path, (c) => {
      const handle = c.req.method === 'GET' || c.req.method === 'HEAD' ? loader : action;
      return handle({
        request: c.req.raw,
        params: c.req.param(),
        context: { backend, visit: c.env.visit },
      });
    });
  }
  app.all('/healthz', (c) => {
    requireMethod(c.req.raw, ['GET', 'HEAD']);
    return c.json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' });
  });
  app.all('/readyz', async (c) => {
    requireMethod(c.req.raw, ['GET', 'HEAD']);
    const isReady = !options.isDraining?.() && (await isMigrated(backend.services.db));
    if (!isReady) throw new AppError('unavailable', { headers: { 'Retry-After': '5' } });
    return c.json({ status: 'ok' }, 200, { 'Cache-Control': 'no-store' });
  });

  // The site is what browsers show and load: worth compressing, and pages run scripts.
  site.use(buildSecureHeaders(config, true, options.isDevelopment));
  site.use(
    compress({ contentTypeFilter: /^(text\/(html|css|javascript)|application\/javascript|image\/svg)/ }),
  );
  site.use(options.isDevelopment ? '*' : '/assets/*', options.staticFiles);
  // The names before the patterns that would take them too.
  const byNames = [...pages.pages].sort(
    (one, other) => Number(one.path.includes(':')) - Number(other.path.includes(':')),
  );
  for (const { path, action, render } of byNames) {
    const allowed = action ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD'];
    if (action) {
      app.post(path, async (c, next) => {
        // Of Remix's own; a pattern would take it for a page.
        if (c.req.path.endsWith('.data')) return next();
        const context: RouteContext = { backend, visit: c.env.visit };
        context.acted = action({ request: c.req.raw, params: c.req.param(), context });
        // Most forms lead on to another page, and need none of what pages need.
        const answer = await context.acted.catch((thrown) => thrown);
        if (answer instanceof Response && answer.headers.has('Location')) return withoutStore(answer);
        c.env.context = context;
        await next();
      });
    }
    site.all(path, (c) => {
      requireMethod(c.req.raw, allowed);
      const { visit, context = { backend, visit } } = c.env;
      visit.cspNonce = c.get('secureHeadersNonce') ?? '';
      return renderPage(render, c.req.raw, context);
    });
    site.all(path === '/' ? '/_root.data' : `${path}.data`, (c) => {
      requireMethod(c.req.raw, allowed);
      return renderPage(render, c.req.raw, { backend, visit: c.env.visit });
    });
  }
  site.all('*', () => backend.notFound());

  async function renderPage(render: Render, request: Request, context: RouteContext): Promise<Response> {
    const { visit } = context;
    const body = request.method === 'POST' && !context.acted ? await readBody(request) : undefined;
    const response = withoutStore(await render(canonicalRequest(request, config.baseUrl, body), context));
    if (!context.thrown) return response;
    if (!new URL(request.url).pathname.endsWith('.data')) throw context.thrown;
    // In a page that is open already, the page's own boundary shows that something failed.
    const error = toAppError(context.thrown);
    logFault(error, visit);
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
    return new Response(response.body, { status: error.status, headers });
  }

  function withoutStore(response: Response): Response {
    if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-store');
    return response;
  }

  const problemPage = pages.pages.find(({ path }) => path === '/problems/:code');
  for (const part of [app, site]) part.onError((thrown, c) => answerError(thrown, c.req.raw, c.env.visit));

  async function answerError(thrown: unknown, request: Request, visit: Visit): Promise<Response> {
    const error = toAppError(thrown);
    logFault(error, visit);
    const refusal = buildProblemResponse(error, config.baseUrl);
    if (!problemPage || !prefersHtml(request)) return refusal;
    const page = await problemPage.render(
      new Request(`${config.baseUrl}/problems/${error.code}`, { headers: { accept: 'text/html' } }),
      { backend, visit, problem: buildProblem(error, config.baseUrl) },
    );
    const headers = new Headers(refusal.headers);
    headers.set('Content-Type', 'text/html; charset=utf-8');
    return new Response(page.body, { status: error.status, headers });
  }

  function logFault(error: AppError, { requestId }: Visit): void {
    if (error.status >= 500)
      log.error({ requestId, code: error.code, err: error.cause ?? error }, 'request failed');
  }

  const securityHeaders = await readHeaders(buildSecureHeaders(config, false, options.isDevelopment));

  return async (request, peer) => {
    const startedAt = performance.now();
    const visit: Visit = {
      requestId: readRequestId(request),
      address: clientAddress(request, peer.address, config.trustsProxy),
      cspNonce: '',
    };
    const refusal = refuseUnroutable(request);
    const answer = refusal ? answerError(refusal, request, visit) : app.fetch(request, { ...peer, visit });
    const response = addHeaders(await answer, {
      ...securityHeaders,
      'x-request-id': visit.requestId,
      ...(options.isDraining?.() && { connection: 'close' }),
    });
    log.info(
      {
        requestId: visit.requestId,
        method: request.method,
        // Never the query: it may hold a signed hand-off.
        path: pathOf(request.url),
        status: response.status,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
      },
      'request',
    );
    return response;
  };
}
