// Reading requests: pure helpers over Request. No framework, no runtime.
import { parseAccept } from 'hono/utils/accept';
import { AppError } from '../basics/errors.ts';
import type { ProblemCode } from '../basics/problems.ts';
import { cutPairs, cutText, readHeader, type TextName, textBounds } from '../basics/text.ts';
import { isReturnTo } from '../sso/payload.ts';
import type { Deadline } from './deadline.ts';
import type { Trace } from './trace-context.ts';

/** What the shell knows of a request, and a Request does not say. */
export type Visit = {
  requestId: string;
  /**
   * The client's address; forwarded addresses count only from TRUSTED_PROXIES. Empty if these name no address: then nobody
   * knows it.
   */
  address: string;
  userAgent?: string;
  /** Roughly where the client is, as a trusted proxy says (IDENTITY_PLACE_HEADER). */
  place?: string;
  /** The deadline of the answer. A transaction that could end after it takes it too, and then does not commit. */
  deadline: Deadline;
  /** Aborts when the client has gone. It is not the signal of the Request, because Remix would stop half way at that one. */
  signal?: AbortSignal;
  /** The trace, if the request came with one. */
  trace?: Trace;
  /** For the log line of the request: the user, the client, and why the request was refused, as we find them out. */
  userId?: string;
  client?: string;
  /** The id of a launch that sent a payload. */
  launchId?: string;
  code?: ProblemCode;
};

/**
 * Whether nobody has clicked: a HEAD, or a fetch that a browser makes ahead of any click
 * (https://w3c.github.io/webappsec-fetch-metadata/, Sec-Purpose).
 */
export function isSpeculative(request: Request): boolean {
  return request.method === 'HEAD' || /\bprefetch\b/i.test(readHeader(request.headers, 'sec-purpose') ?? '');
}

/**
 * Whether a browser opens the page by itself: by Back, by a reload, or because a script or a page leads there. Anything that
 * follows a click or a typed address, redirects included, has `Sec-Fetch-User` (https://w3c.github.io/webappsec-fetch-metadata/).
 */
export function isWithoutClick({ headers }: Request): boolean {
  return (
    readHeader(headers, 'sec-fetch-mode') === 'navigate' && readHeader(headers, 'sec-fetch-user') !== '?1'
  );
}

/** Whether another site led here. A link there must not make a browser download. */
export const isFromElsewhere = ({ headers }: Request): boolean =>
  /^(cross-site|same-site)$/.test(readHeader(headers, 'sec-fetch-site') ?? '');

/** Whether the page at that address of ours led here, as browsers say it (`Referrer-Policy: same-origin`). No other site can. */
export const comesFrom = ({ headers }: Request, page: string): boolean =>
  readHeader(headers, 'referer')?.split(/[?#]/)[0] === page;

/** Whether a person at a browser asks, who gets pages rather than JSON: `Accept` names HTML, and ranks JSON no higher. */
export function prefersHtml(request: Request): boolean {
  const { html, json } = readAccept(request);
  return html > 0 && html >= json;
}

/** Whether a program asks for JSON by name, and ranks it above HTML. */
export function prefersProblem(request: Request): boolean {
  const { html, json } = readAccept(request);
  return json > html;
}

/** How much `Accept` asks for HTML, and for JSON, each by name. */
function readAccept(request: Request): { html: number; json: number } {
  const accepted = parseAccept(readHeader(request.headers, 'accept') ?? '');
  const weightOf = (name: RegExp) =>
    Math.max(0, ...accepted.flatMap(({ type, q }) => (name.test(type) ? q : [])));
  return { html: weightOf(/^text\/html$/i), json: weightOf(/^application\/(problem\+)?json$/i) };
}

/**
 * Allows a change only from our own origin (contract 9.26). Throws 403 `cross_site_request`. A page under `Referrer-Policy:
 * no-referrer` sends `Origin: null` even to its own site (Fetch standard, "append a request Origin header"). So `null` says
 * nothing, and `Sec-Fetch-Site`, which no script can set, decides.
 */
export function requireOwnOrigin(request: Request, issuer: string): void {
  const origin = readHeader(request.headers, 'origin');
  const isOwn =
    origin !== null && origin !== 'null'
      ? origin === new URL(issuer).origin
      : readHeader(request.headers, 'sec-fetch-site') === 'same-origin';
  if (!isOwn) {
    throw new AppError('cross_site_request', {
      detail: `You can only make changes from our own pages at ${new URL(issuer).origin}. Open the page there and try again.`,
    });
  }
}

/** The parameters that have a name of ours, cut (text.ts). Does not parse the whole address, as URL would. */
export const readQuery = (request: Pick<Request, 'url'>) =>
  new URLSearchParams([...cutPairs(new URLSearchParams(/\?[^#]*/.exec(request.url)?.[0]))]);

/** The one value of a parameter, or undefined. Throws 400 `invalid_request` if the parameter is given twice. */
export function readParameter(params: URLSearchParams, name: TextName): string | undefined {
  const values = params.getAll(name);
  if (values.length > 1) throw invalidParameter(name, 'Send it only once.');
  return values[0];
}

/** Throws 400 `invalid_request` if there is a `return_to` that is no path on a client's own site. */
export function checkReturnTo(path: string | undefined): void {
  if (path === undefined || isReturnTo(path)) return;
  throw invalidParameter(
    'return_to',
    'It must be a path on your own site: one slash at the start, at most 2,048 characters.',
  );
}

export type Form = ReadonlyMap<TextName, string>;

export type WholeRange = { min: number; max: number; usual: number };

/** A whole number within the limits; `usual` if it is missing. Throws 400 `invalid_request`. */
export function readWhole(params: URLSearchParams, name: TextName, { min, max, usual }: WholeRange): number {
  const text = readParameter(params, name);
  if (text === undefined) return usual;
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidParameter(name, `It must be a whole number from ${min} to ${max}.`);
}

/** RFC 9110 section 13.1.2: `If-None-Match` is a list of entity tags, compared weakly, or `*`. */
export function matchesTag(request: Request, etag: string): boolean {
  const ifNoneMatch = readHeader(request.headers, 'if-none-match') ?? '';
  return ifNoneMatch.split(',').some((tag) => tag.trim() === '*' || tag.trim().replace(/^W\//, '') === etag);
}

export function invalidParameter(name: string, detail: string): AppError {
  return new AppError('invalid_request', {
    detail: `The parameter ${name} is not valid. ${detail}`,
    errors: [{ pointer: `/${name}`, detail }],
  });
}

/**
 * A path of our own to go to after login, or undefined for anything else. Nothing else guards against open redirects, so
 * this check is strict. The result is the path as the browser would spell it.
 */
export function readOwnPath(value: string | null | undefined): string | undefined {
  if (!value || value.length > textBounds.next || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(value)) return undefined;
  const base = 'https://own.invalid';
  const url = URL.canParse(value, base) ? new URL(value, base) : undefined;
  // `/.//evil.example` is a path that normalises to two slashes.
  if (url?.origin !== base || url.pathname.includes('//')) return undefined;
  return url.pathname + url.search + url.hash;
}

/** Reads the body, which takes as long as its sender does. Throws 400 `invalid_request` if the sender gave up half way. */
export async function readBody(
  request: Request,
  { deadline }: Pick<Visit, 'deadline'>,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await deadline.pause(() => request.arrayBuffer()).catch(refuseBody));
}

/** Throws what reading a body threw, as a refusal. */
export function refuseBody(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw new AppError('invalid_request', {
    detail: 'We could not read the request body. Send it again.',
    cause,
  });
}

/**
 * The fields of a posted form that have a name of ours, cut (text.ts), files as empty text. Throws 415
 * `unsupported_media_type`, and 400 `invalid_request` if the body is not what its type says or has a field twice.
 */
export async function readForm(request: Request): Promise<Form> {
  const type = readHeader(request.headers, 'content-type') ?? '';
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return collectFields([...new URLSearchParams(await request.text().catch(refuseBody))]);
  if (!/^multipart\/form-data\b/i.test(type))
    throw new AppError('unsupported_media_type', { detail: 'This address accepts only forms.' });
  const form = await request.formData().catch(refuseBody);
  return collectFields([...form].map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

function collectFields(pairs: [string, string][]): Form {
  const seen = new Set<string>();
  for (const [name] of pairs) {
    if (seen.has(name)) throw invalidParameter(cutText(name, 40), 'Send it only once.');
    seen.add(name);
  }
  return new Map(cutPairs(pairs));
}

/**
 * Our login page, for a user who is logged in already. Until 1.1.0: pages of 0.6.0 send forms to their path with `.data` added.
 */
export function loginAgainPath({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return loginPathTo(pathname.replace(/\.data$/, '') + search).replace('?', '?prompt=login&');
}

/** Our login page, which goes on to that path of ours. */
export const loginPathTo = (next: string | undefined) =>
  next ? `/login?next=${encodeURIComponent(next)}` : '/login';
