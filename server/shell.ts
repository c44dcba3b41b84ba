// The HTTP shell around every route, the same in development, tests and production, on Node and on Deno:
// request id, log line, security headers, compression, size limit, our own origin, errors as problems or pages.
//
// Resource routes (those without a component) are called straight from Remix's build, with the Request as it
// arrived; Remix's own handler renders the pages. So the doors that Remix opens to loaders (`.data`, `_data`,
// rebuilt URLs, its own cross-site check) do not exist for the public endpoints.
import { Hono, type MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { compress } from 'hono/compress';
import { requestId } from 'hono/request-id';
import { isMigrated } from '../db/migrate.ts';
import type { Backend } from './backend.ts';
import { AppError, buildProblem, type Problem } from './errors.ts';
import {
  buildProblemResponse,
  prefersHtml,
  requireMethod,
  requireOwnOrigin,
  toAppError,
  type Visit,
} from './http.ts';
import { canonicalRequest, clientAddress, isPlainPath, matchAny, pathOf, rejectOnAbort } from './incoming.ts';
import { buildSecureHeaders } from './secure-headers.ts';

/** What a route gets: Remix's load context. */
export type RouteContext = {
  backend: Backend;
  visit: Visit;
  /** The refusal that the page /problems/{code} is to show, under whatever URL it came up. */
  problem?: Problem;
  /** What a page's loader, action or component threw; the pages put it here, the shell answers it. */
  thrown?: unknown;
  /** The login was refused: the page is shown, also to who is logged in. */
  isLoginRefused?: boolean;
};

type RouteArgs = { request: Request; params: Record<string, string>; context: RouteContext };
type ResourceHandler = (args: RouteArgs) => Promise<Response>;

/** The part of Remix's server build that the shell reads. */
export type Pages = {
  /** Path patterns of the resource routes, with their handlers. */
  resources: { path: string; loader: ResourceHandler; action: ResourceHandler }[];
  /** Path patterns of the pages, and whether they take a POST. */
  pages: { path: string; takesForms: boolean }[];
  /** Remix's request handler, for the pages. */
  render: (request: Request, context: RouteContext) => Promise<Response>;
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

const maxBodyBytes = 64 * 1024;

// Called by other systems with a credential of their own, not with a browser's cookie.
const crossOriginPaths = /^\/integrations\//;

type Env = { Bindings: { address: string }; Variables: { visit: Visit; secureHeadersNonce?: string } };

export function createShell(options: ShellOptions): Fetch {
  const { backend, pages, log } = options;
  const { config } = backend;
  const app = new Hono<Env>();
  const logFault = (error: AppError, requestId: string) => {
    if (error.status >= 500)
      log.error({ requestId, code: error.code, err: error.cause ?? error }, 'request failed');
  };

  app.use(
    requestId({
      // Set at the end: a header that is there before the answer makes the framework copy the answer.
      headerName: '',
      generator(c) {
        const given = c.req.header('X-Request-Id') ?? '';
        return /^[\w=-]{1,255}$/.test(given) ? given : crypto.randomUUID();
      },
    }),
  );
  app.use(async (c, next) => {
    const startedAt = performance.now();
    await next();
    c.res.headers.set('X-Request-Id', c.get('requestId'));
    if (options.isDraining?.()) c.res.headers.set('Connection', 'close');
    log.info(
      {
        requestId: c.get('requestId'),
        method: c.req.method,
        // Never the query: it may hold a signed hand-off.
        path: pathOf(c.req.url),
        status: c.res.status,
        ms: Math.round((performance.now() - startedAt) * 10) / 10,
      },
      'request',
    );
  });
  const headersOf = {
    pages: buildSecureHeaders(config, true, options.isDevelopment),
    resources: buildSecureHeaders(config, false, options.isDevelopment),
  };
  const isResource = matchAny(pages.resources.map(({ path }) => path));
  app.use((c, next) => headersOf[isResource(pathOf(c.req.url)) ? 'resources' : 'pages'](c, next));
  app.use(async (c, next) => {
    // Fetch knows no Request of these methods, and the framework trips over addresses in disguise.
    if (/^(TRACE|TRACK|CONNECT)$/.test(c.req.method)) {
      throw new AppError('method_not_allowed', { headers: { Allow: 'GET, HEAD, POST' } });
    }
    if (!isPlainPath(pathOf(c.req.url))) throw new AppError('not_found');
    await next();
  });
  // Pages, scripts and styles; the public endpoints' JSON is too small to gain.
  const compressPages = compress({
    contentTypeFilter: /^(text\/(html|css|javascript)|application\/javascript|image\/svg)/,
  });
  app.use((c, next) => (isResource(pathOf(c.req.url)) ? next() : compressPages(c, next)));
  app.use(async (c, next) => {
    c.set('visit', {
      requestId: c.get('requestId'),
      address: clientAddress(c.req.raw, c.env.address, config.trustsProxy),
      cspNonce: c.get('secureHeadersNonce') ?? '',
    });
    await next();
  });
  const limitBody = bodyLimit({
    maxSize: maxBodyBytes,
    onError: () => {
      throw new AppError('body_too_large', { detail: `The body may hold at most ${maxBodyBytes} bytes.` });
    },
  });
  app.use(async (c, next) => {
    // To look for a body makes the runtime build a whole Request.
    if (c.req.method === 'GET' || c.req.method === 'HEAD') return next();
    // Reading the body of a sender that hung up may never end.
    await Promise.race([limitBody(c, next), rejectOnAbort(c.req.raw.signal)]);
  });
  app.use(async (c, next) => {
    if (!crossOriginPaths.test(c.req.path)) requireOwnOrigin(c.req.raw, config.issuer);
    await next();
  });

  app.use(options.isDevelopment ? '*' : '/assets/*', options.staticFiles);
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
  for (const { path, loader, action } of pages.resources) {
    app.all(path, (c) => {
      const handle = c.req.method === 'GET' || c.req.method === 'HEAD' ? loader : action;
      return handle({
        request: c.req.raw,
        params: c.req.param(),
        context: { backend, visit: c.get('visit') },
      });
    });
  }
  // The names before the patterns that would take them too.
  const byNames = [...pages.pages].sort(
    (one, other) => Number(one.path.includes(':')) - Number(other.path.includes(':')),
  );
  for (const { path, takesForms } of byNames) {
    for (const address of [path, path === '/' ? '/_root.data' : `${path}.data`]) {
      app.all(address, (c) => {
        requireMethod(c.req.raw, takesForms ? ['GET', 'HEAD', 'POST'] : ['GET', 'HEAD']);
        return renderPage(c.req.raw, c.get('visit'));
      });
    }
  }
  app.all('*', () => backend.notFound());

  async function renderPage(request: Request, visit: Visit): Promise<Response> {
    const context: RouteContext = { backend, visit };
    const response = await pages.render(canonicalRequest(request, config.baseUrl), context);
    if (!response.headers.has('Cache-Control')) response.headers.set('Cache-Control', 'no-store');
    if (!context.thrown) return response;
    if (!new URL(request.url).pathname.endsWith('.data')) throw context.thrown;
    // In a page that is open already, the page's own boundary shows that something failed.
    const error = toAppError(context.thrown);
    logFault(error, visit.requestId);
    const headers = new Headers(response.headers);
    for (const [name, value] of Object.entries(error.headers)) headers.set(name, value);
    return new Response(response.body, { status: error.status, headers });
  }

  app.onError(async (thrown, c) => {
    // A sender that hung up is no fault of ours, whatever it broke.
    const hasHungUp = c.req.raw.signal.aborted;
    const error = hasHungUp ? new AppError('invalid_request', { cause: thrown }) : toAppError(thrown);
    logFault(error, c.get('requestId'));
    const refusal = buildProblemResponse(error, config.baseUrl);
    if (!prefersHtml(c.req.raw)) return refusal;
    const visit = c.get('visit') ?? { requestId: c.get('requestId'), address: c.env.address, cspNonce: '' };
    const page = await pages.render(
      new Request(`${config.baseUrl}/problems/${error.code}`, { headers: { accept: 'text/html' } }),
      { backend, visit, problem: buildProblem(error, config.baseUrl) },
    );
    const headers = new Headers(refusal.headers);
    headers.set('Content-Type', 'text/html; charset=utf-8');
    return new Response(page.body, { status: error.status, headers });
  });

  return async (request, peer) => app.fetch(request, peer);
}
