// Making answers: pure helpers over Response. No framework, no runtime.
import { isDatabaseAway, isDatabaseBusy } from '../../db/postgres/away.ts';
import { AppError, buildProblem, timeDetails } from '../errors.ts';
import { EnvelopeError } from '../sso/envelope.ts';

type Parts = { status: number; headers: Record<string, string>; body: string | null };

const partsOf = new WeakMap<Response, Parts>();

/** A Response that `addHeaders` need not take apart: to read headers back out of one costs more than to make it. */
export function respond(
  status: number,
  headers: Record<string, string> = {},
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

export function redirect(
  location: string,
  headers: Record<string, string> = {},
  setCookies: string[] = [],
): Response {
  if (setCookies.length === 0) return respond(303, { ...headers, Location: location });
  const cookies = setCookies.map((cookie): [string, string] => ['Set-Cookie', cookie]);
  return new Response(null, {
    status: 303,
    headers: [...Object.entries(headers), ['Location', location], ...cookies],
  });
}

/** Any thrown thing as the refusal it is; faults of ours keep their cause for the log and say nothing outside. */
export function toAppError(error: unknown): AppError {
  if (error instanceof AppError) return error;
  if (error instanceof EnvelopeError) {
    const { code, reason } = error;
    return new AppError(code, {
      reason,
      detail: code === 'payload_expired' ? timeDetails[reason] : undefined,
    });
  }
  if (isDatabaseAway(error) || isDatabaseBusy(error)) {
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
