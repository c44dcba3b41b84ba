// Verifying one's own e-mail address.
import { z } from 'zod';
import { readOwnPath } from '../http/requests.ts';
import { canVerifyEmail, requestEmailVerification, verifyEmail } from '../identity/verify-email.ts';
import { authenticated, router } from './init.ts';

export const emailRouter = router({
  requestVerification: authenticated
    .input(z.object({ next: z.string().optional() }))
    .mutation(({ ctx, input }) => requestEmailVerification(ctx.services, ctx, readOwnPath(input.next))),

  canVerify: authenticated
    .input(z.object({ token: z.string() }))
    .query(({ ctx, input }) => canVerifyEmail(ctx.services, ctx, input.token)),

  verify: authenticated
    .input(z.object({ token: z.string() }))
    .mutation(({ ctx, input }) => verifyEmail(ctx.services, ctx, input.token)),
});
