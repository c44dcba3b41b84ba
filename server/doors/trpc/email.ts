import { z } from 'zod';
import { textSchema } from '../../basics/text.ts';
import {
  cancelEmailChange,
  confirmEmailChange,
  findEmailChange,
  findOwnEmailChange,
  requestEmailChange,
  requireNoObstacle,
} from '../../identity/address/change-email.ts';
import { requestOwnPasswordMail } from '../../identity/address/request-password-mail.ts';
import {
  canVerifyEmail,
  requestEmailVerification,
  verifyEmail,
} from '../../identity/address/verify-email.ts';
import { requireConfirmed } from '../../identity/session/actor.ts';
import { readOwnPath } from '../../web/requests.ts';
import { person, router } from './init.ts';

/** Refuses a change before it asks for a credential, so that nobody gives a credential for a change that is refused. */
const changing = person
  .use(({ ctx, next }) => {
    requireNoObstacle(ctx.session.user);
    return next();
  })
  .meta({ access: 'confirmed' })
  .use(({ ctx, next }) => next({ ctx: requireConfirmed(ctx.deps, ctx) }));

const link = z.object({ token: textSchema('token') });

export const emailRouter = router({
  requestVerification: person
    .input(z.object({ next: textSchema('next').optional() }))
    .mutation(({ ctx, input }) => requestEmailVerification(ctx.deps, ctx, readOwnPath(input.next))),

  requestPassword: person.mutation(({ ctx }) => requestOwnPasswordMail(ctx.deps, ctx)),

  canVerify: person.input(link).query(({ ctx, input }) => canVerifyEmail(ctx.deps, ctx, input.token)),

  verify: person.input(link).mutation(({ ctx, input }) => verifyEmail(ctx.deps, ctx, input.token)),

  /** Pages ask for a credential before they call this (server/identity/login/confirm.ts). */
  requestChange: changing
    .input(z.object({ email: textSchema('email') }))
    .mutation(({ ctx, input }) => requestEmailChange(ctx.deps, ctx, input.email)),

  /** Returns the change of the email address whose link has not been used yet, or null. */
  pendingChange: person.query(async ({ ctx }) => (await findOwnEmailChange(ctx.deps, ctx)) ?? null),

  cancelChange: person.mutation(({ ctx }) => cancelEmailChange(ctx.deps, ctx)),

  findChange: person
    .input(link)
    .query(async ({ ctx, input }) => (await findEmailChange(ctx.deps, ctx, input.token)) ?? null),

  confirmChange: person
    .input(link)
    .mutation(({ ctx, input }) => confirmEmailChange(ctx.deps, ctx, input.token)),
});
