// Accounts for tests of rights, with what we have decided and what the marketplace says about each right.
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { type Decision, decideCapability, decideVerification } from '../../../db/tables/accounts.ts';
import { lockExternalLinks } from '../../../db/tables/external-links.ts';
import { listUsersOfAccount } from '../../../db/tables/users.ts';
import { demoPassword } from '../../../server/doors/demo/demo-users.ts';
import { openApp } from '../app/app.ts';
import { logIn } from '../app/visitor.ts';
import { type HandOff, handOver } from '../marketplace/marketplace.ts';
import { shared } from '../run/shared.ts';

/** The app for a whole file, and what its tests do in it. */
export function shareRights() {
  const env = { SSO_MARKETPLACE_LOGIN_URL: 'http://market.localhost:4000/login' };
  const app = shared(() => openApp({ env }));

  let minutes = 0;
  const rights = {
    app,

    /** The time of a profile; each is newer than the one before. */
    nextTime: () => new Date(Date.UTC(2026, 0, 1) + ++minutes * 60_000),

    handOverNow: (profile: HandOff) => handOver(app, { profileUpdatedAt: rights.nextTime(), ...profile }),

    /** A customer with the password of the demo users, and a browser in which they are logged in. */
    async openCustomer() {
      const [id, accountId] = [uuidv7(), uuidv7()];
      const email = `${id}@example.test`;
      await inTransaction(app.db, { by: 'operator', cause: 'test' }, async (trx) => {
        await sql`insert into accounts (id, name) values (${accountId}, 'Test')`.execute(trx);
        await sql`insert into users (id, account_id, email, holds_email, email_verified_at, name, role, password_hash)
          select ${id}, ${accountId}, ${email}, true, now(), 'Test Person', 'user', password_hash
          from users where email = 'customer@example.test'`.execute(trx);
      });
      const browser = await logIn(app.send, email, demoPassword);
      return { browser, id, email, accountId };
    },

    decide: (accountId: string, what: string, decision: Decision) =>
      inTransaction(app.db, { by: 'operator', cause: 'test' }, async (trx) => {
        for (const { id } of await listUsersOfAccount(trx, accountId)) await lockExternalLinks(trx, id);
        return what === 'verification'
          ? decideVerification(trx, accountId, decision)
          : decideCapability(trx, accountId, what, decision);
      }),

    async accountOf(externalId: string): Promise<string> {
      const { rows } = await sql<{ id: string }>`select u.account_id as id from users u
        join external_links l on l.user_id = u.id where l.external_id = ${externalId}`.execute(app.db);
      return rows[0]?.id ?? '';
    },
  };
  return rights;
}
