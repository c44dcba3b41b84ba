// The profile that its owner reads and edits: the single source of truth.
import { z } from 'zod';
import { editAccountName } from '../../db/accounts.ts';
import { deleteMailLinks } from '../../db/mail-links.ts';
import { endSessions } from '../../db/sessions.ts';
import { inTransaction } from '../../db/transactions.ts';
import { editUserName, findCredentialsByEmail, replacePasswordHash } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import { nameSchema } from '../identity/names.ts';
import { hashPassword, newPasswordSchema, verifyPassword } from '../identity/passwords.ts';
import { startSession } from '../identity/sessions.ts';
import { buildStandardProfile } from '../identity/standard-profile.ts';
import { authenticated, router } from './init.ts';

export const profileRouter = router({
  /** The standard profile, and what only its owner sees. */
  get: authenticated.query(({ ctx: { session } }) => ({
    ...buildStandardProfile(session.user),
    accountName: session.user.account.name,
    grantedCapabilities: session.user.account.capabilities,
    accountVerified: session.user.account.verifiedAt !== null,
    emailVerified: session.user.emailVerifiedAt !== null,
  })),

  /** Both names or neither; what is left out or the same stays untouched. */
  update: authenticated
    .input(z.object({ name: nameSchema.optional(), accountName: nameSchema.optional() }))
    .mutation(async ({ ctx: { services, session, audit }, input }) => {
      const { user } = session;
      const name = input.name !== user.name ? input.name : undefined;
      const accountName = input.accountName !== user.account.name ? input.accountName : undefined;
      const changed = [name && 'name', accountName && 'accountName'].filter((field) => field !== undefined);
      if (changed.length === 0) return;
      await inTransaction(services.db, async (trx) => {
        // The account first, as everywhere: two orders would lock each other out.
        if (accountName) await editAccountName(trx, user.account.id, accountName);
        if (name) await editUserName(trx, user.id, name);
        await audit(trx, { type: 'profile.updated', details: { changed } });
      });
    }),

  /** Ends every other session of the user, and gives this one a new token. */
  changePassword: authenticated
    .input(z.object({ currentPassword: z.string(), newPassword: newPasswordSchema }))
    .mutation(async ({ ctx: { services, session, audit, request, visit, headers }, input }) => {
      const { db, read, guessLimits, now, config } = services;
      const { user } = session;
      const attempt = await guessLimits.countTry(user.email, visit.address);
      const from = (await findCredentialsByEmail(read, user.email))?.passwordHash;
      if (!(await verifyPassword(from, input.currentPassword)) || !from) {
        await audit(db, { type: 'password.refused', reason: 'wrong_password' });
        throw wrongPassword();
      }
      await attempt.forgive();

      const to = await hashPassword(input.newPassword);
      const cookie = await inTransaction(db, async (trx) => {
        if (!(await replacePasswordHash(trx, user.id, { from, to }))) throw wrongPassword();
        // Logged out or ended meanwhile: it must not come back under a new token.
        if ((await endSessions(trx, user.id, { id: session.id }, now())) === 0)
          throw new AppError('login_required');
        await endSessions(trx, user.id, 'all', now());
        // A mail that lies around could undo the change.
        await deleteMailLinks(trx, user.id);
        await audit(trx, { type: 'password.changed' });
        return startSession(trx, { userId: user.id, request, visit, issuer: config.issuer, now: now() });
      });
      headers.append('Set-Cookie', cookie);
    }),
});

function wrongPassword(): AppError {
  return new AppError('validation_failed', {
    errors: [{ pointer: '/currentPassword', detail: 'This is not your present password.' }],
  });
}
