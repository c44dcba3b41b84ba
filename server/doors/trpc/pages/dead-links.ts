// The procedure for pages of mail links that do not work.
import { z } from 'zod';
import { explainDeadLink } from '../../../identity/ground/address-proof.ts';
import { anonymous, lookUp, router } from '../init.ts';

const purpose = z.enum([
  ...(['set_password', 'verify_email', 'sign_up', 'invitation', 'change_email'] as const),
  ...(['undo_email_change', 'new_address', 'stop_new_address', 'invoice_email'] as const),
]);

export const deadLinksRouter = router({
  /** Says what became of a link. Returns null if the token is not ours. */
  explain: anonymous.input(z.object({ token: z.string(), purpose })).query(async ({ ctx, input }) => {
    const session = await lookUp(ctx);
    const userId = session && session.state !== 'suspended' ? session.user.id : undefined;
    const { db, now } = ctx.deps;
    return (await explainDeadLink(db, { ...input, now: now(), userId })) ?? null;
  }),
});
