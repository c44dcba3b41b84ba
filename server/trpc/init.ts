// The base of every procedure: context, error shape, and a session by allow-list: a procedure is
// `authenticated` unless it says otherwise, and none does.
import { initTRPC, TRPCError } from '@trpc/server';
import superjson from 'superjson';
import { z } from 'zod';
import { type AuditEvent, recordAuditEvent } from '../../db/audit-events.ts';
import type { Services } from '../backend.ts';
import { AppError, toFieldErrors } from '../errors.ts';
import { toAppError, type Visit } from '../http.ts';
import { findSession } from '../identity/sessions.ts';

type TrpcContext = {
  services: Services;
  request: Request;
  visit: Visit;
  /** What the answer is to carry, such as a new session's cookie. */
  headers: Headers;
  /** Who is asking, once it was looked up: a page asks several procedures for one request. */
  found?: ReturnType<typeof findSession>;
};

const t = initTRPC.context<TrpcContext>().create({
  transformer: superjson,
  // Named one by one: never tRPC's own `stack`, and never the message of a thrown fault.
  errorFormatter({ shape, error }) {
    const { code, detail, errors } = toRefusal(error);
    const { code: trpcCode, httpStatus, path } = shape.data;
    return { ...shape, message: detail, data: { code: trpcCode, httpStatus, path, problem: code, errors } };
  },
});

export const { router, createCallerFactory } = t;

// tRPC makes an INTERNAL_SERVER_ERROR of whatever a procedure throws, and 400 of bad input; ours keep
// their meaning and their status.
const refusals = t.middleware(async ({ next }) => {
  const result = await next();
  if (result.ok) return result;
  const refusal = toRefusal(result.error);
  throw new TRPCError({
    code: trpcCodes[refusal.status] ?? 'INTERNAL_SERVER_ERROR',
    message: refusal.detail,
    cause: refusal,
  });
});

const trpcCodes: Record<number, TRPCError['code']> = {
  400: 'BAD_REQUEST',
  401: 'UNAUTHORIZED',
  403: 'FORBIDDEN',
  404: 'NOT_FOUND',
  409: 'CONFLICT',
  422: 'UNPROCESSABLE_CONTENT',
  429: 'TOO_MANY_REQUESTS',
  503: 'SERVICE_UNAVAILABLE',
};

/** Needs a live session, and has it as `ctx.session`; otherwise 401 `login_required`. */
export const authenticated = t.procedure.use(refusals).use(async ({ ctx, next }) => {
  const { db } = ctx.services;
  ctx.found ??= findSession(ctx.services, ctx.request);
  const session = await ctx.found;
  if (!session || session === 'suspended') throw new AppError('login_required');
  const audit = (trx: typeof db, event: AuditEvent) =>
    recordAuditEvent(trx, {
      userId: session.user.id,
      address: ctx.visit.address,
      requestId: ctx.visit.requestId,
      ...event,
    });
  return next({ ctx: { ...ctx, session, audit } });
});

/** A procedure's failure as the refusal that it is. */
export function toRefusal(error: TRPCError): AppError {
  if (error.cause instanceof AppError) return error.cause;
  if (error.cause instanceof z.core.$ZodError) {
    return new AppError('validation_failed', { errors: toFieldErrors(error.cause), cause: error });
  }
  if (error.code === 'NOT_FOUND') return new AppError('not_found');
  if (error.code === 'METHOD_NOT_SUPPORTED') return new AppError('method_not_allowed');
  if (error.code === 'UNSUPPORTED_MEDIA_TYPE') return new AppError('unsupported_media_type');
  if (error.code === 'PARSE_ERROR' || error.code === 'BAD_REQUEST')
    return new AppError('invalid_request', { cause: error });
  return toAppError(error.cause ?? error);
}
