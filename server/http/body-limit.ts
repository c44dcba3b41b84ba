// The size limit of what is sent to us.
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { AppError } from '../errors.ts';
import { refuseBody } from './requests.ts';

const maxBytes = 64 * 1024;

function refuse(): never {
  throw new AppError('body_too_large', { detail: `The body can be at most ${maxBytes} bytes.` });
}

const countBody = bodyLimit({ maxSize: maxBytes, onError: refuse });

/** Throws 413 `body_too_large`, and 400 `invalid_request` where its sender gave up half way. */
export const limitBody: MiddlewareHandler = (c, next) => {
  const length = c.req.header('content-length');
  // To look into the body makes the runtime build a whole Request; a length that is said is kept to by the runtime.
  if (length === undefined || c.req.header('transfer-encoding')) return countBody(c, next).catch(refuseBody);
  return Number(length) > maxBytes ? refuse() : next();
};
