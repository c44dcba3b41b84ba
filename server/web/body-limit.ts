import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { AppError } from '../basics/errors.ts';
import { isOfStaff, pathOf } from './incoming.ts';
import { refuseBody } from './requests.ts';

const maxBytes = 64 * 1024;

/**
 * One page of staff takes a file. All their paths may get as much, because another answer would tell others that it is there. But a
 * body that does not say its length is counted here, before anybody is known, so it gets no more than others.
 */
const maxBytesOfStaff = 2 * 1024 * 1024;

const refuse = (most: number) => (): never => {
  throw new AppError('body_too_large', { detail: `The body can be at most ${most} bytes.` });
};

const countBody = bodyLimit({ maxSize: maxBytes, onError: refuse(maxBytes) });

/** Throws 415 `unsupported_media_type`, even for `Content-Encoding: identity` (RFC 9110 section 8.4.1). */
export const refuseEncodedBody: MiddlewareHandler = (c, next) => {
  if (c.req.header('content-encoding') === undefined) return next();
  throw new AppError('unsupported_media_type', { detail: 'Send the body without a Content-Encoding.' });
};

/** Throws 413 `body_too_large`, or 400 `invalid_request` if the sender gives up or a GET or HEAD has a body of unknown length. */
export const limitBody: MiddlewareHandler = (c, next) => {
  const length = c.req.header('content-length');
  const isChunked = c.req.header('transfer-encoding') !== undefined;
  if (c.req.method === 'GET' || c.req.method === 'HEAD') {
    if (isChunked) throw new AppError('invalid_request', { detail: 'Do not send a body with this method.' });
    return Number(length ?? 0) > maxBytes ? refuse(maxBytes)() : next();
  }
  // Counting a body makes the runtime build a whole Request. If the length is given, the runtime enforces it.
  if (length === undefined || isChunked) return countBody(c, next).catch(refuseBody);
  const most = isOfStaff(pathOf(c.req.url)) ? maxBytesOfStaff : maxBytes;
  return Number(length) > most ? refuse(most)() : next();
};
