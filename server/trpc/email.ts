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
} from '../identity/change-email.ts';
import { requestOwnPasswordMail } from '../identity/request-password-mail.ts';
import { canVerifyEmail, requestEmailVerification, verifyEmail } from '../identity/verify-email.ts';
import { authenticated, router } from './init.ts';

export const emailRouter = router({
  requestVerification: authenticated
    .input(z.object({ next: textSchema('next').optional() }))
    .mutation(({ ctx, input }) => requestEmailVerification(ctx.services, ctx, readOwnPath(input.next))),

  requestPassword: authenticated.mutation(({ ctx }) => requestOwnPasswordMail(ctx.services, ctx)),

  canVerify: authenticated
    .input(z.object({ token: textSchema('token') }))
    .query(({ ctx, input }) => canVerifyEmail(ctx.services, ctx, input.token)),

  verify: authenticated
    .input(z.object({ token: textSchema('token') }))
    .mutation(({ ctx, input }) => verifyEmail(ctx.services, ctx, input.token)),

  /** Only within ten minutes of a credential: pages ask for one first (server/identity/confirm.ts). */
  requestChange: authenticated
    .input(z.object({ email: textSchema('email') }))
    .mutation(({ ctx, input }) => requestEmailChange(ctx.services, ctx, input.email)),

  /** What waits for its link to be used, or null. */
  pendingChange: authenticated.query(
    async ({ ctx }) => (await findOwnEmailChange(ctx.services, ctx)) ?? null,
  ),

  cancelChange: authenticated.mutation(({ ctx }) => cancelEmailChange(ctx.services, ctx)),

  findChange: authenticated
    .input(z.object({ token: textSchema('token') }))
    .query(async ({ ctx, input }) => (await findEmailChange(ctx.services, ctx, input.token)) ?? null),

  confirmChange: authenticated
    .input(z.object({ token: textSchema('token') }))
    .mutation(({ ctx, input }) => confirmEmailChange(ctx.services, ctx, input.token)),
});
