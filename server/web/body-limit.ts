import type { HonoRequest, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { AppError } from '../basics/errors.ts';
import { refuseBody } from './requests.ts';

const maxBytes = 64 * 1024;

/** Staff can upload a file on one of the pages. */
const maxBytesOfStaff = 2 * 1024 * 1024;

/** Throws 415 `unsupported_media_type`, even for `Content-Encoding: identity` (RFC 9110 section 8.4.1). */
export const refuseEncodedBody: MiddlewareHandler = (c, next) => {
  if (c.req.header('content-encoding') === undefined) return next();
  throw new AppError('unsupported_media_type', { detail: 'Send the body without a Content-Encoding.' });
};

/**
 * Throws 413 `body_too_large`. Throws 400 `invalid_request` if the sender gives up, or if a GET or HEAD has a body of unknown
 * length.
 */
function buildLimit(most: number): MiddlewareHandler {
  const refuse = (): never => {
    throw new AppError('body_too_large', { detail: `The body can be at most ${most} bytes.` });
  };
  // A body without a length is counted before we know who sends it. So its limit is the same for everybody.
  const countBody = bodyLimit({ maxSize: maxBytes, onError: refuse });
  return (c, next) => {
    const length = c.req.header('content-length');
    const isChunked = c.req.header('transfer-encoding') !== undefined;
    if (c.req.method === 'GET' || c.req.method === 'HEAD') {
      if (isChunked)
        throw new AppError('invalid_request', { detail: 'Do not send a body with this method.' });
      return Number(length ?? 0) > most ? refuse() : next();
    }
    // Counting a body makes the runtime build a whole Request. If the length is given, the runtime does not let a longer body
    // through.
    if (length === undefined || isChunked) return countBody(c, next).catch(refuseBody);
    return Number(length) > most ? refuse() : next();
  };
}

export const limitBody = buildLimit(maxBytes);
export const limitBodyOfStaff = buildLimit(maxBytesOfStaff);

/** Returns whether a request announces a body that is larger than anybody except staff may send. */
export const isLarge = (request: HonoRequest): boolean =>
  request.method === 'POST' && Number(request.header('content-length') ?? 0) > maxBytes;
