// What endpoints share of HTTP: pure helpers over Request and Response. No framework, no runtime.
import { isDatabaseAway } from '../db/client.ts';
import { AppError, buildProblem } from './errors.ts';
import { EnvelopeError } from './sso/envelope.ts';

/** What the shell knows of a request and a Request cannot say. */
export type Visit = {
  requestId: string;
  /** The client's address, forwarded ones counted only from TRUSTED_PROXIES. */
  address: string;
  cspNonce: string;
};

/** Throws 405 `method_not_allowed` with `Allow`. */
export function requireMethod(request: Request, allowed: readonly string[]): void {
  if (!allowed.includes(request.method)) {
    throw new AppError('method_not_allowed', { headers: { Allow: allowed.join(', ') } });
  }
}

/** HEAD, and fetches that a browser makes ahead of any click (https://w3c.github.io/webappsec-fetch-metadata/, Sec-Purpose). */
export function isSpeculative(request: Request): boolean {
  return request.method === 'HEAD' || /\bprefetch\b/i.test(request.headers.get('sec-purpose') ?? '');
}

/** Whether the asker is a person at a browser, who gets pages rather than JSON. */
export function prefersHtml(request: Request): boolean {
  return /\btext\/html\b/i.test(request.headers.get('accept') ?? '');
}

const unsafe = new Set(['POST', 'PUT', 'PATCH', 'DELETE']);

/**
 * Contract section 9: a change only from our own origin; throws 403 `cross_site_request`. A page under
 * `Referrer-Policy: no-referrer` sends `Origin: null` even to its own site (Fetch standard, "append a request
 * Origin header"), so `null` says nothing, and `Sec-Fetch-Site`, which no script can set, decides.
 */
export function requireOwnOrigin(request: Request, issuer: string): void {
  if (!unsafe.has(request.method)) return;
  const origin = request.headers.get('origin');
  const isOwn =
    origin !== null && origin !== 'null'
      ? origin === new URL(issuer).origin
      : request.headers.get('sec-fetch-site') === 'same-origin';
  if (!isOwn) {
    throw new AppError('cross_site_request', {
      detail: `Changes are accepted from pages of ${new URL(issuer).origin} only. Open the page there and try again.`,
    });
  }
}

/** Without taking the whole address apart, as URL does. */
export const readQuery = (request: Request) => new URLSearchParams(/\?[^#]*/.exec(request.url)?.[0]);

/** The one value of a parameter, or undefined; given twice it is a 400 `invalid_request`. */
export function readParameter(params: URLSearchParams, name: string): string | undefined {
  const values = params.getAll(name);
  if (values.length > 1) throw invalidParameter(name, 'It is given more than once.');
  return values[0];
}

export function invalidParameter(name: string, detail: string): AppError {
  return new AppError('invalid_request', {
    detail: `The parameter ${name} is not right. ${detail}`,
    errors: [{ pointer: `/${name}`, detail }],
  });
}

/**
 * A path of our own to go to after login, or undefined for anything else: the only defence against open
 * redirects, so it takes the strict view. What comes back is the form that the browser would make of it.
 */
export function readOwnPath(value: string | null | undefined): string | undefined {
  if (!value || value.length > 8_192 || !/^\/(?![/\\])[^\\\p{Cc}]*$/u.test(value)) return undefined;
  const base = 'https://own.invalid';
  const url = URL.canParse(value, base) ? new URL(value, base) : undefined;
  // `/.//evil.example` is a path that normalises to two slashes.
  if (url?.origin !== base || url.pathname.includes('//')) return undefined;
  return url.pathname + url.search + url.hash;
}

type Parts = { status: number; headers: Record<string, string>; body: string | null };

const partsOf = new WeakMap<Response, Parts>();

/** A Response that `addHeaders` need not take apart: to read headers back out of one costs more than to make it. */
export function respond(
  status: number,
  headers: Record<string, string>,
  body: string | null = null,
): Response {
  const response = new Response(body, { status, headers });
  partsOf.set(response, { status, headers, body });
  return response;
}

/** The response with these headers too, named in lower case, but for those that it has already. */
export function addHeaders(response: Response, further: Record<string, string>): Response {
  const parts = partsOf.get(response);
  if (!parts) {
    for (const [name, value] of Object.entries(further)) {
      if (!response.headers.has(name)) response.headers.set(name, value);
    }
    return response;
  }
  const headers = { ...further };
  for (const name in parts.headers) headers[name.toLowerCase()] = parts.headers[name] ?? '';
  return new Response(parts.body, { status: parts.status, headers });
}

export function redirect(location: string, headers: Record<string, string> = {}): Response {
  return respond(303, { ...headers, Location: location });
}

/** Any thrown thing as the refusal it is; faults of ours keep their cause for the log and say nothing outside. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof EnvelopeError) return new AppError(error.code, { reason: error.reason });
  if (isDatabaseAway(error)) {
    return new AppError('unavailable', { headers: { 'Retry-After': '5' }, cause: error });
  }
  return new AppError('internal_error', { cause: error });
}

export function buildProblemResponse(error: AppError, baseUrl: string): Response {
  const headers = {
    'Content-Type': 'application/problem+json',
    'Cache-Control': 'no-store',
    ...error.headers,
  };
  return respond(error.status, headers, JSON.stringify(buildProblem(error, baseUrl)));
}

/** Throws 400 `invalid_request` where its sender gave up half way. */
export async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer>> {
  return new Uint8Array(await request.arrayBuffer().catch(refuseBody));
}

/** What reading a body threw, as the refusal that it is. */
export function refuseBody(cause: unknown): never {
  if (cause instanceof AppError) throw cause;
  throw new AppError('invalid_request', { detail: 'The body cannot be read.', cause });
}

/**
 * The fields of a posted form, files as empty text. Throws 415 `unsupported_media_type`, and 400
 * `invalid_request` where the body is not what its type says.
 */
export async function readForm(request: Request): Promise<Map<string, string>> {
  const type = request.headers.get('content-type') ?? '';
  if (/^application\/x-www-form-urlencoded\b/i.test(type))
    return new Map(new URLSearchParams(await request.text().catch(refuseBody)));
  if (!/^multipart\/form-data\b/i.test(type))
    throw new AppError('unsupported_media_type', { detail: 'A form is expected here.' });
  const form = await request.formData().catch(refuseBody);
  return new Map([...form].map(([name, value]) => [name, typeof value === 'string' ? value : '']));
}

/** Our login page, which comes back to where the request wanted to go. */
export function loginPath(request: Request): string {
  const { pathname, search } = new URL(request.url);
  return `/login?next=${encodeURIComponent(pathname.replace(/\.data$/, '') + search)}`;
}
