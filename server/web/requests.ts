import { parseAccept } from 'hono/utils/accept';
import { AppError } from '../basics/errors.ts';
import type { ProblemCode } from '../basics/problems.ts';
import { cutPairs, cutText, readHeader, type TextName, textBounds } from '../basics/text.ts';
import { parseUrl } from '../basics/url.ts';
import { isReturnTo } from '../sso/payload.ts';
import type { Deadline } from './deadline.ts';
import type { Trace } from './trace-context.ts';

export type Visit = {
  requestId: string;
  /** The caller's IP address, or empty if it is unknown. A forwarded address is used only if it comes from TRUSTED_PROXIES. */
  address: string;
  userAgent?: string;
  /** Roughly where the client is, as a trusted proxy says (IDENTITY_PLACE_HEADER). */
  place?: string;
  /** A transaction that could end after the deadline does not commit. */
  deadline: Deadline;
  /**
   * Aborts when the caller closes the connection. The signal of the Request is not used, because Remix would stop halfway when
   * it aborts.
   */
  signal?: AbortSignal;
  trace?: Trace;
  /** All members from here on are for the log line of the request. Each is set as soon as it is known. */
  userId?: string;
  client?: string;
  /** Set if a launch has sent a payload. */
  launchId?: string;
  code?: ProblemCode;
};

/**
 * Returns whether the URL of a login says that the login is by a passkey. Such a login hashes no password, so neither the door
 * nor the proxies count it as a login by password. The files for proxies in docs/operate/files/ read the URL in the same way.
 */
export const isByPasskey = (url: string): boolean => /[?&]with=passkey(?:&|$)/.test(url);

/**
 * Returns whether the browser asked without a click, by a HEAD or a prefetch (https://w3c.github.io/webappsec-fetch-metadata/,
 * Sec-Purpose).
 */
export function isSpeculative(request: Request): boolean {
  return request.method === 'HEAD' || /\bprefetch\b/i.test(readHeader(request.headers, 'sec-purpose') ?? '');
}

/**
 * Returns whether a browser opens the page by itself, as after Back or by a script. After a click or a typed URL, the browser
 * sends Sec-Fetch-User.
 */
export function isWithoutClick({ headers }: Request): boolean {
  return (
    readHeader(headers, 'sec-fetch-mode') === 'navigate' && readHeader(headers, 'sec-fetch-user') !== '?1'
  );
}

/** Returns whether another site led the browser here. A link on another site must not start a download. */
export const isFromElsewhere = ({ headers }: Request): boolean =>
  /^(cross-site|same-site)$/.test(readHeader(headers, 'sec-fetch-site') ?? '');

/**
 * Returns whether the person comes from our page with the URL `page`. Browsers send this URL as the `Referer` only from our own
 * pages (`Referrer-Policy: same-origin`). No other site can make them send it.
 */
export const comesFrom = ({ headers }: Request, page: string): boolean =>
  readHeader(headers, 'referer')?.split(/[?#]/)[0] === page;

/** Returns whether a person at a browser asks. If so, `Accept` names HTML, and ranks JSON no higher. */
export function prefersHtml(request: Request): boolean {
  const { html, json } = readAccept(request);
  return html > 0 && html >= json;
}

/** Returns whether `Accept` names JSON and ranks it above HTML. */
export function prefersProblem(request: Request): boolean {
  const { html, json } = readAccept(request);
  return json > html;
}

function readAccept(request: Request): { html: number; json: number } {
  const accepted = parseAccept(readHeader(request.headers, 'accept') ?? '');
  const weightOf = (name: RegExp) =>
    Math.max(0, ...accepted.flatMap(({ type, q }) => (name.test(type) ? q : [])));
  return { html: weightOf(/^text\/html$/i), json: weightOf(/^application\/(problem\+)?json$/i) };
}

/** Allows a change only from our own origin (contract 9.26). Throws 403 `cross_site_request`. */
export function requireOwnOrigin(request: Request, issuer: string): void {
  const origin = readHeader(request.headers, 'origin');
  // Under `no-referrer`, even our own pages send `Origin: null`. Then `Sec-Fetch-Site` decides, because no script can set it.
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

/**
 * Reads only parameters with one of our names, and cuts long values (text.ts). This does not parse the whole URL, as the class
 * URL would.
 */
export const readQuery = (request: Pick<Request, 'url'>) =>
  new URLSearchParams([...cutPairs(new URLSearchParams(/\?[^#]*/.exec(request.url)?.[0]))]);

/** Throws 400 `invalid_request` if the parameter is given twice. */
export function readParameter(params: URLSearchParams, name: TextName): string | undefined {
  const values = params.getAll(name);
  if (values.length > 1) throw invalidParameter(name, 'Send it only once.');
  return values[0];
}

/** Throws 400 `invalid_request` if `return_to` is not a path on the client's site. */
export function checkReturnTo(path: string | undefined): void {
  if (path === undefined || isReturnTo(path)) return;
  throw invalidParameter(
    'return_to',
    'It must be a path on your own site: one slash at the start, at most 2,048 characters.',
  );
}

/** `file` is what somebody has uploaded. */
export type Form = ReadonlyMap<TextName, string> & { file?: File | undefined };

export type WholeRange = { min: number; max: number; usual: number };

/** Returns `usual` if the parameter is missing. Throws 400 `invalid_request` if it is not a whole number within the limits. */
export function readWhole(params: URLSearchParams, name: TextName, { min, max, usual }: WholeRange): number {
  const text = readParameter(params, name);
  if (text === undefined) return usual;
  const value = /^(0|[1-9]\d{0,15})$/.test(text) ? Number(text) : Number.NaN;
  if (value >= min && value <= max) return value;
  throw invalidParameter(name, `It must be a whole number from ${min} to ${max}.`);
}

/**
 * Returns whether `If-None-Match` names the tag. By RFC 9110 section 13.1.2, this header is a list of entity tags, which are
 * compared weakly, or `*`.
 */
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

/** Reads the path to go to after the login. This is strict, because nothing else prevents open redirects. */
export function readOwnPath(value: string | null | undefined): string | undefined {
  if (!value || value.length > textBounds.next || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(value)) return undefined;
  const base = 'https://own.invalid';
  const url = parseUrl(value, base);
  // `/.//evil.example` becomes a path with two slashes at its beginning, which browsers read as another host.
  if (url?.origin !== base || url.pathname.includes('//')) return undefined;
  return url.pathname + url.search + url.hash;
}

/** Throws 400 `invalid_request` if the sender gave up halfway. */
export async function readBody(
  request: Request,
  { deadline }: Pick<Visit, 'deadline'>,
): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await deadline.pause(() => request.arrayBuffer()).catch(refuseBody));
}

export function refuseBody(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw new AppError('invalid_request', {
    detail: 'We could not read the request body. Send it again.',
    cause,
  });
}

/**
 * Reads all fields without cutting them, because the limit for bodies is enough. Throws 415 `unsupported_media_type` or 400
 * `invalid_request`.
 */
export async function readAllFields(request: Request): Promise<URLSearchParams> {
  if (!/^application\/x-www-form-urlencoded\b/i.test(readHeader(request.headers, 'content-type') ?? ''))
    throw new AppError('unsupported_media_type', { detail: 'This address accepts only forms.' });
  return new URLSearchParams(await request.text().catch(refuseBody));
}

/**
 * Reads only fields with one of our names, and cuts long values. Throws 415 `unsupported_media_type` or 400 `invalid_request`.
 */
export async function readForm(request: Request): Promise<Form> {
  const type = readHeader(request.headers, 'content-type') ?? '';
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return collectFields([...new URLSearchParams(await request.text().catch(refuseBody))]);
  if (!/^multipart\/form-data\b/i.test(type))
    throw new AppError('unsupported_media_type', { detail: 'This address accepts only forms.' });
  const form = await request.formData().catch(refuseBody);
  const pairs = [...form];
  const file = pairs.map(([, value]) => value).find((value) => typeof value !== 'string');
  const fields = collectFields(pairs.map(([name, value]) => [name, typeof value === 'string' ? value : '']));
  return Object.assign(fields, { file });
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
 * Returns the path of the login page for a user who is logged in but must log in again. After that, the user returns to this
 * page.
 */
export function loginAgainPath({ url }: Request): string {
  const { pathname, search } = new URL(url);
  return loginPathTo(pathname + search).replace('?', '?prompt=login&');
}

export const loginPathTo = (next: string | undefined) =>
  next ? `/login?next=${encodeURIComponent(next)}` : '/login';
