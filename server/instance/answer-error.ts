// Answers requests that are refused or fail, with a problem document, or with a page for a browser.

import { type AppError, buildProblem } from '../basics/errors.ts';
import { setUpPath } from '../identity/session/second-factor.ts';
import type { Made } from '../runtime/listener.ts';
import { addHeaders, buildProblemResponse, redirect, toAppError } from '../web/answers.ts';
import { Deadline } from '../web/deadline.ts';
import { prefersHtml, type Visit } from '../web/requests.ts';
import type { Backend } from './backend.ts';
import type { PageTurns } from './page-turns.ts';
import type { Pages } from './route.ts';

type Options = { backend: Backend; pages: Pages };

export type Refusing = Options & {
  pageTurns: PageTurns;
  /** The page for people at an IP address from which too many requests wait for pages. */
  unavailablePage: Made;
};

/**
 * Only this function decides what an answer says about an error. The answer is a problem document, or a page if a browser asks.
 */
export async function answerError(
  thrown: unknown,
  request: Request,
  visit: Visit,
  options: Refusing,
): Promise<Response> {
  const error = toAppError(thrown);
  visit.code = error.code;
  if (error.status >= 500 && !error.isExpected) {
    const { requestId } = visit;
    const { log } = options.backend.deps;
    log.error({ requestId, code: error.code, err: error.cause ?? error }, 'request failed');
  }
  const build = () => buildRefusal(error, request, visit, options);
  if (!prefersHtml(request)) return build();
  // A page about a refusal costs as much as any other page, so it also waits for its turn.
  return options.pageTurns.take(visit, build).catch((refusal) => {
    if (toAppError(refusal).code !== 'unavailable') throw refusal;
    const { status, headers, body } = options.unavailablePage;
    return new Response(body, { status, headers });
  });
}

function leadToSetUp({ method, url }: Request): Response {
  const { pathname, search } = new URL(url);
  const next = method === 'GET' ? `?next=${encodeURIComponent(pathname + search)}` : '';
  return redirect(setUpPath + next, { 'Cache-Control': 'no-store' });
}

async function buildRefusal(
  error: AppError,
  request: Request,
  visit: Visit,
  { backend, pages }: Options,
): Promise<Response> {
  const { config } = backend;
  const refusal = buildProblemResponse(error, config.baseUrl);
  if (!prefersHtml(request)) return refusal;
  if (error.code === 'second_factor_required') return leadToSetUp(request);
  const context = { backend, visit, minutes: error.minutes };
  const page = await pages.showProblem(buildProblem(error, config.baseUrl), request, context);
  const headers = new Headers(refusal.headers);
  headers.set('Content-Type', 'text/html; charset=utf-8');
  return new Response(page.body, { status: error.status, headers });
}

/**
 * Makes the ready answers with which the door (door.ts) refuses requests: one for programs and one for people. These answers have
 * no request id.
 */
export async function makeAnswers(
  error: AppError,
  securityHeaders: Record<string, string>,
  options: Options,
): Promise<{ problem: Made; page: Made }> {
  const make = async (accept: string): Promise<Made> => {
    const request = new Request(options.backend.config.baseUrl, { headers: { accept } });
    const visit = { requestId: '', address: '', deadline: new Deadline() };
    // The door does not look at routes, so its answers get the strictest referrer policy of all routes.
    const headers = { ...securityHeaders, 'referrer-policy': 'no-referrer' };
    const answer = addHeaders(await buildRefusal(error, request, visit, options), headers);
    return { status: answer.status, headers: Object.fromEntries(answer.headers), body: await answer.text() };
  };
  return { problem: await make('application/json'), page: await make('text/html') };
}
