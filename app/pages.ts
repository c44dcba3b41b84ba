// Remix's build as the list of routes that the HTTP shell serves. A route without a component is an endpoint. The shell calls
// it directly, with the Request as it arrived, so Remix's cross-site check does not apply to it. An endpoint takes a fraction
// of a page's time. Remix's other ways to a loader (`.data`, `_data`) exist for no route.
import { type AppLoadContext, createRequestHandler, type ServerBuild } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';
import type { Pages, Route, RouteContext } from '../server/instance/route.ts';
import { hasOnceForms, worksOnce } from './once.ts';
import { findRefused, type Refused, retryAfter } from './refused.ts';

type BuiltRoute = NonNullable<ServerBuild['routes'][string]>;

export function createPages(build: ServerBuild): Pages {
  const routes = Object.values(build.routes).filter((route) => route !== undefined && route.id !== 'root');
  const showProblem = buildRender('routes/problems.$code', build);
  return {
    routes: routes
      .flatMap((route) =>
        route?.module.default
          ? listPaths(route).map((path) => buildPage(route, path, build))
          : buildEndpoint(route as BuiltRoute),
      )
      // If several patterns match, a fixed name comes before a parameter, and a pattern with an extension before one without.
      .sort((one, other) => rankOf(one.path) - rankOf(other.path)),
    showProblem(problem, refused, context) {
      const headers = { cookie: refused.headers.get('cookie') ?? '' };
      const request = new Request(`${context.backend.site.baseUrl}/problems/${problem.code}`, { headers });
      const { context: own } = buildContext(request, context);
      return showProblem(request, { ...own, problem, refusedRequest: refused, minutes: context.minutes });
    },
  };
}

const rankOf = (path: string) => (!path.includes(':') ? 0 : /:\w+\.\w+$/.test(path) ? 1 : 2);

/** Returns what a route may use, and the headers that its procedures set. */
function buildContext(request: Request, { backend, visit }: RouteContext) {
  const { endpoints, transport, site, demo } = backend;
  const headers = new Headers();
  let made: Procedures | undefined;
  const context: AppLoadContext = {
    visit,
    // Created only when needed, because endpoints need no procedures.
    get procedures() {
      made ??= backend.createProcedures(request, visit, headers);
      return made;
    },
    transport,
    site,
    demo,
    endpoints,
    method: request.method,
    get sendsCookies() {
      return backend.forms.sendsCookies(request);
    },
  };
  return { context, headers };
}

function buildEndpoint(route: BuiltRoute): Route {
  const { loader, action, headers } = route.module;
  return {
    path: pathOf(route),
    methods: methodsOf(route),
    // These headers go on every answer, including refusals.
    headers: typeof headers === 'object' ? Object.fromEntries(new Headers(headers)) : undefined,
    isPage: false,
    isPublic: isPublic(route),
    async handle(request, routeContext, params) {
      const answer = request.method === 'POST' ? action : loader;
      const { context } = buildContext(request, routeContext);
      return (await answer?.({ request, params, context })) as Response;
    },
  };
}

function buildPage(route: BuiltRoute, path: string, build: ServerBuild): Route {
  const render = buildRender(route.id, build);
  const page = {
    path,
    methods: methodsOf(route),
    headers: { 'cache-control': 'no-store' },
    isPage: true,
    isPublic: isPublic(route),
    async handle(request: Request, routeContext: RouteContext) {
      const { transport, forms } = routeContext.backend;
      const { context, headers } = buildContext(request, routeContext);
      const { method } = request;
      context.isPublic = page.isPublic;
      if (method === 'POST') return answerForm(request, routeContext, { context, headers });
      if (!page.isPublic) context.refused = await findRefused({ request, context });
      const response = await answer(request, routeContext, { context, headers }, { method });
      if (page.methods.includes('POST') && transport.prefersHtml(request))
        response.headers.append('Set-Cookie', forms.nameBrowser());
      if (context.refused && response.status === 200) return asRefused(response, context.refused);
      return response;
    },
  };

  /** Returns the answer of the page, with the headers that its procedures set. */
  async function answer(
    request: Request,
    { backend: { transport, site }, visit }: RouteContext,
    { context, headers }: ReturnType<typeof buildContext>,
    init: RequestInit,
  ): Promise<Response> {
    const response = await render(toOwnSite(request, site.baseUrl, init), context);
    // An error that a procedure threw becomes a refusal.
    if (context.thrown) throw transport.readRefusal(context.thrown, visit);
    for (const [name, value] of headers) response.headers.append(name, value);
    return response;
  }

  async function answerForm(
    request: Request,
    routeContext: RouteContext,
    made: ReturnType<typeof buildContext>,
  ) {
    const { backend, visit } = routeContext;
    const body = await backend.transport.readBody(request, visit);
    const kind = { worksOnce: worksOnce(path, body), mayEnd: hasOnceForms(path) };
    return backend.forms.answerOnce({ request, visit, body, ...kind }, async () => {
      const response = await answer(request, routeContext, made, { method: 'POST', body });
      if (made.headers.has('set-cookie')) checkCookies(response, request, backend);
      return { response, isDone: made.context.isDone === true };
    });
  }

  return page;
}

const isPublic = ({ module: { handle } }: BuiltRoute) =>
  Boolean((handle as { isPublic?: boolean } | undefined)?.isPublic);

/**
 * Redirects through the login page, which tells people if their browser sends no cookies back (contract 9.284). Otherwise a
 * correct password would lead to an empty login page.
 */
function checkCookies(
  { status, headers }: Response,
  request: Request,
  { transport, forms }: RouteContext['backend'],
): void {
  const location = headers.get('location');
  if (status !== 303 || !location || forms.sendsCookies(request) || !transport.prefersHtml(request)) return;
  headers.set('Location', `${transport.loginPathTo(location)}&why=no-cookies`);
}

/** Gives the page of a refused form the status of the refusal. */
function asRefused({ body, headers }: Response, refused: Refused): Response {
  for (const [name, value] of Object.entries(retryAfter(refused))) headers.set(name, value);
  return new Response(body, { status: refused.status, headers });
}

const pathOf = (route: BuiltRoute) => `/${route.path ?? ''}`;

/**
 * Returns the path of a page. If its last part is optional, as in `/admin/people/:id/:tab?`, also returns the path without
 * that part.
 */
function listPaths(route: BuiltRoute): string[] {
  const path = pathOf(route);
  return path.endsWith('?') ? [path.replace(/\/[^/]+$/, ''), path.slice(0, -1)] : [path];
}

function methodsOf({ module: { default: component, loader, action } }: BuiltRoute): string[] {
  return [...(component || loader ? ['GET', 'HEAD'] : []), ...(action ? ['POST'] : [])];
}

/**
 * Remix's own handler for one page. It knows only the page that the shell has found. If it knew all pages, Remix would try the
 * patterns of all of them several times per request.
 */
function buildRender(id: string, build: ServerBuild) {
  const pick = <T>(routes: Record<string, T>) =>
    Object.fromEntries(Object.entries(routes).filter(([key]) => key === id || key === 'root'));
  const assets = { ...build.assets, routes: pick(build.assets.routes) };
  return createRequestHandler(
    { ...build, routes: pick(build.routes), assets },
    import.meta.env.DEV ? 'development' : 'production',
  );
}

const leftOut = new Set(['host', 'x-forwarded-host', 'origin']);

/**
 * Returns the request for Remix, with our own host in place of the Host and X-Forwarded-Host that were sent. Remix's cross-site
 * check would believe those headers, and our own check has run already. If a path ended in `.data`, Remix would answer with the
 * data of a page, so the dot is escaped.
 */
function toOwnSite(request: Request, baseUrl: string, init: RequestInit): Request {
  const asked = new URL(request.url);
  if (asked.searchParams.has('_data')) asked.searchParams.delete('_data');
  const headers = Object.fromEntries([...request.headers].filter(([name]) => !leftOut.has(name)));
  const pathname = asked.pathname.replace(/\.data$/, '%2Edata');
  return new Request(`${baseUrl}${pathname}${asked.search}`, { ...init, headers });
}
