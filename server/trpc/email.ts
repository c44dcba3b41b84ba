// The address of who is logged in: a mail with a link, and the link.
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import { consumeMailLink } from '../../db/mail-links.ts';
import { insertMail } from '../../db/mails.ts';
import { inTransaction } from '../../db/transactions.ts';
import { lockUser, updateUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import { readOwnPath } from '../http.ts';
import { openMailLink } from '../identity/mail-links.ts';
import { authenticated, router } from './init.ts';

export const emailRouter = router({
  /** Mails the link; `next` is a path here to go on to. Nothing to do where the address is verified already. */
  requestVerification: authenticated
    .input(z.object({ next: z.string().optional() }))
    .mutation(async ({ ctx: { services, session, audit, visit }, input }) => {
      const { user } = session;
      if (user.emailVerifiedAt) return;
      await services.mailLimits.countTry(user.email, visit.address);
      const next = readOwnPath(input.next);
      await inTransaction(services.db, async (trx) => {
        await insertMail(trx, {
          id: uuidv7(),
          kind: 'verify_email',
          userId: user.id,
          recipient: user.email,
          details: { name: user.name, ...(next && { next }) },
          now: services.now(),
        });
        await audit(trx, { type: 'email.verification_requested' });
      });
    }),

  /**
   * Uses the link up, in a login of the user that it is about: whoever else received the mail must not verify
   * a stranger's login by a click. 404 `not_found` for a link that does not work.
   */
  verify: authenticated
    .input(z.object({ token: z.string() }))
    .mutation(async ({ ctx: { services, session, audit }, input }) => {
      const { db, now } = services;
      const link = await openMailLink(db, 'verify_email', input.token, now());
      if (link?.userId !== session.user.id) throw new AppError('not_found');
      await inTransaction(db, async (trx) => {
        const user = await lockUser(trx, { id: link.userId });
        if (user?.email !== link.email || !(await consumeMailLink(trx, link)))
          throw new AppError('not_found');
        await updateUser(trx, user.id, { emailVerifiedAt: user.emailVerifiedAt ?? now() });
        await audit(trx, { type: 'email.verified', reason: 'by_mail' });
      });
    }),
});
