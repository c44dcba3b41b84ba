// The steps that every request goes through, before and after its route.
import type { Handler, MiddlewareHandler } from 'hono';
import { isStaff } from '../acts/staff.ts';
import { AppError } from '../basics/errors.ts';
import { userAgentOf } from '../identity/ground/device.ts';
import { findSession } from '../identity/session/sessions.ts';
import type { Config } from '../settings/config.ts';
import { addHeaders, buildProblemResponse, redirect, respond, shortenLocation } from '../web/answers.ts';
import { isLarge, limitBody, limitBodyOfStaff } from '../web/body-limit.ts';
import { buildFindClientAddress } from '../web/client-address.ts';
import { Deadline } from '../web/deadline.ts';
import {
  isForThisMachine,
  isOfStaff,
  pathOf,
  readPlace,
  readRequestId,
  refuseUnroutable,
} from '../web/incoming.ts';
import { loginPathTo, requireOwnOrigin, type Visit } from '../web/requests.ts';
import { readTrace } from '../web/trace-context.ts';
import type { Backend } from './backend.ts';
import { isHealthPath } from './health.ts';
import { buildFindPattern, type Route } from './route.ts';

export type Env = {
  /** All steps of a request share this object. `headers` belong to the request's route, and `route` is its pattern. */
  Bindings: {
    address: string;
    node?: object;
    visit: Visit;
    headers?: Record<string, string>;
    route?: string;
    /** Whether the answer must not show that the path has a route. */
    isHidden?: boolean;
  };
  Variables: { requestId: string };
};
type Step = MiddlewareHandler<Env>;

export const assetsPath = '/assets/*';

// Requests from other origins are accepted on these paths. Other systems call them with their own credential, or the paths read
// no cookie (contract 14.13).
const crossOriginPaths =
  /^\/(?:integrations\/|demo\/\w+\/events$|oauth\/(?:authorize|logout|token|userinfo)$)/;

/** Accepts a request id only from our proxies. Otherwise anybody could choose an id, which the log and the history would show. */
export function nameRequest(config: Config): Step {
  return (c, next) => {
    c.set('requestId', readRequestId(c.req.raw, c.env.address, config) ?? crypto.randomUUID());
    return next();
  };
}

export function openVisit({ config, deps }: Backend, answerWithinMs: number): Step {
  const findClientAddress = buildFindClientAddress(config, deps.log);
  return (c, next) => {
    const { raw } = c.req;
    const peer = c.env.address;
    const address = findClientAddress(raw, peer) ?? '';
    c.env.visit = {
      requestId: c.get('requestId'),
      address,
      trace: readTrace(raw),
      deadline: new Deadline(answerWithinMs),
      // A getter, because few requests need the user agent.
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

/** Counts each request in the metrics, and logs it unless it is a successful health check. */
export function logRequest({ deps: { log, metrics } }: Backend, routes: Route[]): Step {
  const findPattern = buildFindPattern([...routes.map(({ path }) => path), assetsPath]);
  return async (c, next) => {
    const startedAt = performance.now();
    metrics.startRequest();
    await next();
    const ms = performance.now() - startedAt;
    const { visit } = c.env;
    const { userId, client, launchId, code } = visit;
    const { method } = c.req;
    // The log never gets the query, because it may contain a signed hand-off.
    const path = pathOf(c.req.url);
    // Some requests are refused before their route is looked up.
    const route = c.env.isHidden ? undefined : (c.env.route ?? findPattern(path));
    const { status } = c.res;
    metrics.endRequest({ method, route, status, seconds: ms / 1_000, code, client });
    // A load balancer asks every second, so the metrics count these requests, but the log leaves them out.
    if (isHealthPath(path) && status < 400) return;
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

export function finishHeaders(
  securityHeaders: Record<string, string>,
  routes: Route[],
  isDraining: () => boolean,
): Step {
  const findPattern = buildFindPattern(routes.map(({ path }) => path));
  const headersOf = new Map(routes.map(({ path, headers }) => [path, headers]));
  return async (c, next) => {
    await next();
    const answer = addHeaders(shortenLocation(c.res), {
      ...securityHeaders,
      // If a request was refused before its route was looked up, this finds the route, for its headers. For staff paths, this
      // finds no route, because the answer must not show that there is one.
      ...(c.env.route !== undefined || isOfStaff(pathOf(c.req.url))
        ? c.env.headers
        : headersOf.get(findPattern(pathOf(c.req.url)) ?? '')),
      // Hono would set this header only on answers that its own context makes.
      'x-request-id': c.get('requestId'),
      ...(isDraining() && { connection: 'close' }),
    });
    // This sets undefined before the new answer. Otherwise Hono would copy the headers of the old Response to the new one,
    // which costs time.
    c.res = undefined;
    c.res = answer;
  };
}

/**
 * Refuses requests for another host, in local mode only. A site may point its name at this machine (DNS rebinding). Browsers
 * would then take the site and us for one origin, and the site could read our pages.
 */
export function refuseOtherHost(baseUrl: string): Step {
  const detail = `In local mode this service answers only to names of this machine. Open ${baseUrl} instead.`;
  return async (c, next) => {
    if (isForThisMachine(c.req.raw)) return next();
    c.env.visit.code = 'invalid_request';
    return buildProblemResponse(new AppError('invalid_request', { detail }), baseUrl);
  };
}

export const refuseOddRequest: Step = (c, next) => {
  const refusal = refuseUnroutable(c.req.raw);
  if (refusal) throw refusal;
  return next();
};

/**
 * Redirects to the path without its last slash if a route answers a GET there, otherwise answers 404. Never leads to another
 * site.
 */
export function leadFromSlash(routes: Route[]): Handler<Env> {
  const readable = new Map(
    routes.filter(({ methods }) => methods.includes('GET')).map((route) => [route.path, route]),
  );
  const findPattern = buildFindPattern([...readable.keys()]);
  return (c) => {
    const { method, url } = c.req.raw;
    const path = pathOf(url);
    const target = path.slice(0, -1);
    const isRead = method === 'GET' || method === 'HEAD';
    const route = isRead && path.endsWith('/') ? readable.get(findPattern(target) ?? '') : undefined;
    if (!route) throw new AppError('not_found');
    // The query may contain a token. The headers of the route keep others from seeing the query.
    c.env.headers = route.headers;
    c.env.route = route.path;
    return respond(308, { 'Cache-Control': 'no-store', Location: target + new URL(url).search });
  };
}

export function requireOwnPage(issuer: string): Step {
  return (c, next) => {
    if (!crossOriginPaths.test(c.req.path)) requireOwnOrigin(c.req.raw, issuer);
    return next();
  };
}

/**
 * Below /admin, staff may send larger bodies, because a page there accepts a file. Other people cannot tell from the limit that
 * there is such a page.
 */
export function limitBodies({ deps }: Backend): Step {
  return async (c, next) => {
    const { raw } = c.req;
    if (!isLarge(c.req) || !isOfStaff(pathOf(raw.url))) return limitBody(c, next);
    const { visit } = c.env;
    const session = await visit.deadline.enforce(findSession(deps, raw, visit));
    const isFromStaff = session !== undefined && session.state !== 'suspended' && isStaff(session.user);
    return (isFromStaff ? limitBodyOfStaff : limitBody)(c, next);
  };
}

/**
 * Staff paths redirect people without a session to the login. For users who are logged in but not staff, the paths do not exist
 * (contract 12.5).
 */
export function hideFromOthers({ deps }: Backend): Step {
  return async (c, next) => {
    const { raw } = c.req;
    const path = pathOf(raw.url);
    if (!isOfStaff(path)) return next();
    const { visit } = c.env;
    const session = await visit.deadline.enforce(findSession(deps, raw, visit));
    if (!session || session.state === 'suspended') {
      const answer = redirect(loginPathTo(path + new URL(raw.url).search));
      return addHeaders(answer, { 'cache-control': 'no-store' });
    }
    if (isStaff(session.user)) return next();
    c.env.isHidden = true;
    throw new AppError('not_found');
  };
}
