import { z } from 'zod';
import { isDatabaseAway, isDatabaseBusy } from '../../db/postgres/away.ts';
import { AppError, buildProblem, unavailable } from '../basics/errors.ts';
import { timeDetails } from '../basics/problems.ts';
import { EnvelopeError } from '../sso/envelope.ts';

export const healthSchema = z.object({ status: z.literal('ok') });

export type Health = z.infer<typeof healthSchema>;

type Parts = { status: number; headers: Record<string, string>; setCookies: string[]; body: string | null };

const partsOf = new WeakMap<Response, Parts>();

/**
 * Keeps the parts of the Response for `addHeaders`, because it costs more to read headers from a Response than to make a
 * Response.
 */
export function respond(
  status: number,
  headers: Record<string, string> = {},
  body: string | null = null,
  setCookies: string[] = [],
): Response {
  const parts = { status, headers, setCookies, body };
  const response = build(parts);
  partsOf.set(response, parts);
  return response;
}

export const respondJson = (body: unknown, setCookies?: string[]): Response =>
  respond(
    200,
    { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' },
    JSON.stringify(body),
    setCookies,
  );

function build({ status, headers, setCookies, body }: Parts): Response {
  const [cookie, ...others] = setCookies;
  if (cookie === undefined) return new Response(body, { status, headers });
  // A plain object becomes headers faster, but cannot have two headers of the same name.
  if (others.length === 0)
    return new Response(body, { status, headers: { ...headers, 'set-cookie': cookie } });
  const cookies = setCookies.map((each): [string, string] => ['set-cookie', each]);
  return new Response(body, { status, headers: [...Object.entries(headers), ...cookies] });
}

/** Adds headers, named in lower case, unless the response has them already. */
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
  return build({ ...parts, headers });
}

const maxLocationLength = 14 * 1_024;

/** Cuts the query off a `Location` that is too long for proxies (contract 9.303). Escapes can triple the length of a path. */
export function shortenLocation(response: Response): Response {
  const parts = partsOf.get(response);
  const location = (parts ? parts.headers.Location : response.headers.get('location')) ?? '';
  if (location.length <= maxLocationLength) return response;
  const short = location.slice(0, location.search(/\?|$/)).slice(0, maxLocationLength);
  if (parts) {
    const { status, headers, body, setCookies } = parts;
    return respond(status, { ...headers, Location: short }, body, setCookies);
  }
  const headers = new Headers(response.headers);
  headers.set('location', short);
  return new Response(response.body, { status: response.status, headers });
}

export const redirect = (
  location: string,
  headers: Record<string, string> = {},
  setCookies: string[] = [],
): Response => respond(303, { ...headers, Location: location }, null, setCookies);

/** If an error is our own fault, its cause is kept for the log, and others learn nothing about it. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof EnvelopeError) {
    const { code, reason } = error;
    return new AppError(code, {
      reason,
      detail: code === 'payload_expired' ? timeDetails[reason] : undefined,
    });
  }
  if (isDatabaseAway(error) || isDatabaseBusy(error)) return unavailable(error);
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
