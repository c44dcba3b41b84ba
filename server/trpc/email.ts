// Verifying one's own e-mail address, and changing it.

import { z } from 'zod';
import { readOwnPath } from '../http/requests.ts';
import { textSchema } from '../http/text.ts';
import {
  cancelEmailChange,
  confirmEmailChange,
  findEmailChange,
  findOwnEmailChange,
  requestEmailChange,
} from '../identity/address/change-email.ts';
import { requestOwnPasswordMail } from '../identity/address/request-password-mail.ts';
import { canVerifyEmail, requestEmailVerification, verifyEmail } from '../identity/address/verify-email.ts';
import { authenticated, router } from './init.ts';

export const emailRouter = router({
  requestVerification: authenticated
    .input(z.object({ next: textSchema('next').optional() }))
    .mutation(({ ctx, input }) => requestEmailVerification(ctx.deps, ctx, readOwnPath(input.next))),

  requestPassword: authenticated.mutation(({ ctx }) => requestOwnPasswordMail(ctx.deps, ctx)),

  canVerify: authenticated
    .input(z.object({ token: textSchema('token') }))
    .query(({ ctx, input }) => canVerifyEmail(ctx.deps, ctx, input.token)),

  verify: authenticated
    .input(z.object({ token: textSchema('token') }))
    .mutation(({ ctx, input }) => verifyEmail(ctx.deps, ctx, input.token)),

  /** Only within ten minutes of a credential: pages ask for one first (server/identity/login/confirm.ts). */
  requestChange: authenticated
    .input(z.object({ email: textSchema('email') }))
    .mutation(({ ctx, input }) => requestEmailChange(ctx.deps, ctx, input.email)),

  /** What waits for its link to be used, or null. */
  pendingChange: authenticated.query(async ({ ctx }) => (await findOwnEmailChange(ctx.deps, ctx)) ?? null),

  cancelChange: authenticated.mutation(({ ctx }) => cancelEmailChange(ctx.deps, ctx)),

  findChange: authenticated
    .input(z.object({ token: textSchema('token') }))
    .query(async ({ ctx, input }) => (await findEmailChange(ctx.deps, ctx, input.token)) ?? null),

  confirmChange: authenticated
    .input(z.object({ token: textSchema('token') }))
    .mutation(({ ctx, input }) => confirmEmailChange(ctx.deps, ctx, input.token)),
});
