// The base of every procedure: its context, who may call it, and the form of its errors.
import { initTRPC, TRPCError } from '@trpc/server';
import superjson, { type SuperJSONResult } from 'superjson';
import { z } from 'zod';
import { requireRight } from '../../acts/act.ts';
import { looks, type Right } from '../../acts/rights.ts';
import { requireStaff } from '../../acts/staff.ts';
import { AppError, toFieldErrors } from '../../basics/errors.ts';
import { isObject } from '../../basics/is-object.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { requireConfirmed } from '../../identity/session/actor.ts';
import { findSession, requireLive, requireLoggedIn } from '../../identity/session/sessions.ts';
import { toAppError } from '../../web/answers.ts';
import type { Visit } from '../../web/requests.ts';

export type TrpcContext = {
  deps: Dependencies;
  request: Request;
  visit: Visit;
  /** Headers for the answer, such as a new session's cookie. */
  headers: Headers;
  /** The session is looked up once for each request, and again after each change of the session. */
  looked: { session?: ReturnType<typeof findSession> };
};

export type Access = 'anonymous' | 'person' | 'confirmed' | 'setting_up' | 'setting_up_confirmed' | 'staff';

/**
 * Reads an input as JSON. Annotations of superjson may only mark the input or its members as undefined.
 * Superjson itself never reads inputs. Its other types would let a sender choose which objects we create. A sender could also
 * keep it busy, because it walks every path for each annotation.
 */
function readInput({ json, meta }: SuperJSONResult): unknown {
  if (meta === undefined) return json;
  const { values, v: _version, ...more } = meta;
  if (Object.keys(more).length > 0) throw new AppError('invalid_request');
  if (values === undefined) return json;
  if (isUndefined(values)) return undefined;
  if (!isObject(json) || !isObject(values)) throw new AppError('invalid_request');
  const annotations = Object.entries(values);
  // No input has members inside its members, so no annotation is nested.
  if (annotations.length > maxAnnotations || !annotations.every(([, each]) => isUndefined(each)))
    throw new AppError('invalid_request');
  const gone = new Set(annotations.map(([name]) => name));
  return Object.fromEntries(Object.entries(json).filter(([name]) => !gone.has(name)));
}

/** No input has so many members. */
const maxAnnotations = 20;

const isUndefined = (annotation: unknown) =>
  Array.isArray(annotation) && annotation.length === 1 && annotation[0] === 'undefined';

const t = initTRPC
  .context<TrpcContext>()
  .meta<{ access: Access }>()
  .create({
    transformer: { input: { serialize: superjson.serialize, deserialize: readInput }, output: superjson },
    // The error is built member by member, so that tRPC's own `stack` and the message of an unexpected error are never sent.
    errorFormatter({ shape, error }) {
      const { code, detail, errors } = toRefusal(error);
      const { code: trpcCode, httpStatus, path } = shape.data;
      return { ...shape, message: detail, data: { code: trpcCode, httpStatus, path, problem: code, errors } };
    },
  });

export const { router, createCallerFactory, mergeRouters } = t;

// tRPC turns everything that a procedure throws into INTERNAL_SERVER_ERROR, and bad input into 400. This gives our refusals
// their own code and status.
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

const forgetAfterChange = t.middleware(async ({ ctx, type, next }) => {
  const result = await next();
  if (type === 'mutation') ctx.looked.session = undefined;
  return result;
});

const base = t.procedure.use(refusals).use(forgetAfterChange);

export function lookUp({ looked, deps, request, visit }: Omit<TrpcContext, 'headers'>) {
  looked.session ??= findSession(deps, request, visit);
  return looked.session;
}

// Each procedure begins with one of the words below, which say who may call it.

export const anonymous = base.meta({ access: 'anonymous' });

/** For a user with a full session. For others, throws 401 `login_required` or 403 `second_factor_required`. */
export const person = base
  .meta({ access: 'person' })
  .use(async ({ ctx, next }) => next({ ctx: { ...ctx, session: requireLive(await lookUp(ctx)) } }));

/** For a person who gave a credential within the last ten minutes. For others, throws 401 `login_required`. */
export const confirmed = person
  .meta({ access: 'confirmed' })
  .use(({ ctx, next }) => next({ ctx: requireConfirmed(ctx.deps, ctx) }));

/**
 * For staff (contract 12.1). Throws 401 `login_required` without a login, 403 `second_factor_required` without a second factor,
 * and 404 `not_found` for other people.
 */
export const staff = base
  .meta({ access: 'staff' })
  .use(async ({ ctx, next }) =>
    next({ ctx: { ...ctx, session: requireStaff(ctx.deps, await lookUp(ctx)) } }),
  );

/** For staff whose role has that right. Other staff get 404 `not_found`, even if their input is wrong. */
export const withRight = (right: Right) =>
  staff.use(({ ctx, next }) => {
    requireRight(ctx, right);
    return next();
  });

export const allowed = (name: keyof typeof looks) => withRight(looks[name]);

/** For a person, or for a user who must first set up or give a second factor. */
export const settingUp = base
  .meta({ access: 'setting_up' })
  .use(async ({ ctx, next }) => next({ ctx: { ...ctx, session: requireLoggedIn(await lookUp(ctx)) } }));

/** For a user of `settingUp` who gave a credential within the last ten minutes. For others, throws 401 `login_required`. */
export const settingUpConfirmed = settingUp
  .meta({ access: 'setting_up_confirmed' })
  .use(({ ctx, next }) => next({ ctx: requireConfirmed(ctx.deps, ctx) }));

export function setCookies({ headers }: TrpcContext, cookies: string[]): void {
  for (const cookie of cookies) headers.append('Set-Cookie', cookie);
}

export function toRefusal(error: TRPCError): AppError {
  if (error.cause instanceof AppError) return error.cause;
  // Only wrong input is a bad request. If anything else cannot be parsed, that is our own fault.
  if (error.code === 'BAD_REQUEST' && error.cause instanceof z.core.$ZodError) {
    return new AppError('validation_failed', { errors: toFieldErrors(error.cause), cause: error });
  }
  if (error.code === 'NOT_FOUND') return new AppError('not_found');
  if (error.code === 'METHOD_NOT_SUPPORTED') return new AppError('method_not_allowed');
  if (error.code === 'UNSUPPORTED_MEDIA_TYPE') return new AppError('unsupported_media_type');
  if (error.code === 'PARSE_ERROR' || error.code === 'BAD_REQUEST')
    return new AppError('invalid_request', { cause: error });
  return toAppError(error.cause ?? error);
}
