// Verifying one's own e-mail address.
import { z } from 'zod';
import { readOwnPath } from '../http/requests.ts';
import { requestEmailVerification, verifyEmail } from '../identity/verify-email.ts';
import { authenticated, router } from './init.ts';

export const emailRouter = router({
  requestVerification: authenticated
    .input(z.object({ next: z.string().optional() }))
    .mutation(({ ctx, input }) => requestEmailVerification(ctx.services, ctx, readOwnPath(input.next))),

  verify: authenticated
    .input(z.object({ token: z.string() }))
    .mutation(({ ctx, input }) => verifyEmail(ctx.services, ctx, input.token)),
});
