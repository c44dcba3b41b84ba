// The demo users of local mode (contract section 10). Their ids are fixed, so that a production start can
// tell a database that they got into.
import { sql } from 'kysely';
import { insertAccount } from './accounts.ts';
import type { Database } from './client.ts';
import { inTransaction } from './transactions.ts';
import { type InternalRole, insertUser } from './users.ts';

export const demoPassword = 'local demo password';

type DemoUser = {
  email: string;
  name: string;
  about: string;
  role?: InternalRole;
  capabilities?: string[];
  accountVerified?: boolean;
  emailVerified?: boolean;
  suspended?: boolean;
};

export const demoUsers: DemoUser[] = [
  {
    email: 'merchant@example.test',
    name: 'Maya Merchant',
    about: 'verified merchant',
    capabilities: ['manage_storefront', 'sell_products', 'sell_services'],
    accountVerified: true,
  },
  {
    email: 'new-merchant@example.test',
    name: 'Noor Newcomer',
    about: 'merchant, not verified yet',
    capabilities: ['sell_products'],
  },
  { email: 'customer@example.test', name: 'Casey Customer', about: 'customer' },
  { email: 'manager@example.test', name: 'Morgan Manager', about: 'manager', role: 'manager' },
  { email: 'admin@example.test', name: 'Ada Admin', about: 'admin', role: 'admin' },
  { email: 'suspended@example.test', name: 'Sam Suspended', about: 'suspended', suspended: true },
  {
    email: 'unverified@example.test',
    name: 'Uma Unverified',
    about: 'address not verified',
    emailVerified: false,
  },
];

const demoId = (kind: 0 | 1, index: number) => `01900000-0000-7000-800${kind}-00000000000${index + 1}`;

/** Only into a database that holds nobody yet: once they were changed or deleted, they stay so. */
export async function seedDemoUsers(db: Database, passwordHash: string, now: Date): Promise<void> {
  await inTransaction(db, async (trx) => {
    // Two instances may start at once.
    await sql`lock table users in share row exclusive mode`.execute(trx);
    if (await trx.selectFrom('users').select('id').limit(1).executeTakeFirst()) return;
    for (const [index, user] of demoUsers.entries()) {
      const accountId = demoId(1, index);
      await insertAccount(trx, {
        id: accountId,
        name: `${user.name.split(' ')[0]}’s account`,
        capabilities: user.capabilities ?? [],
        verifiedAt: user.accountVerified ? now : null,
      });
      await insertUser(trx, {
        id: demoId(0, index),
        accountId,
        email: user.email,
        name: user.name,
        role: user.role ?? 'user',
        passwordHash,
        emailVerifiedAt: user.emailVerified === false ? null : now,
        suspendedAt: user.suspended ? now : null,
      });
    }
  });
}

export async function hasDemoUsers(db: Database): Promise<boolean> {
  const ids = demoUsers.map((_, index) => demoId(0, index));
  return (
    (await db.selectFrom('users').select('id').where('id', 'in', ids).limit(1).executeTakeFirst()) !==
    undefined
  );
}
