// Creates the demo users and the demo seller of local mode (contract 11.1, 11.2 and 7.473). The demo users have fixed ids, so
// that production recognises a database that contains them.
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import {
  findSettingsInForce,
  insertSettingsVersion,
  lockSettingsVersions,
} from '../../../db/tables/billing-settings.ts';
import { hasUsers, type InternalRole, lockUsersTable } from '../../../db/tables/users.ts';
import type { Capability } from '../../identity/ground/capabilities.ts';
import { createCustomer } from '../../identity/ground/customers.ts';

export const demoPassword = 'local demo password';

type DemoUser = {
  email: string;
  name: string;
  about: string;
  role?: InternalRole;
  capabilities?: Capability[];
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
    about: 'email address not verified',
    emailVerified: false,
  },
];

const demoId = (kind: 0 | 1, index: number) => `01900000-0000-7000-800${kind}-00000000000${index + 1}`;

/** Does nothing if there are any users. So changed users stay changed, and deleted users stay deleted. */
export async function seedDemoUsers(db: Database, passwordHash: string, now: Date): Promise<void> {
  await inTransaction(db, { by: 'service', cause: 'demo users' }, async (trx) => {
    // Two instances may start at the same moment. The lock lets only one of them add the users.
    await lockUsersTable(trx);
    if (await hasUsers(trx)) return;
    for (const [index, user] of demoUsers.entries()) {
      const customer = {
        email: user.email,
        holdsEmail: true,
        emailVerifiedAt: user.emailVerified === false ? null : now,
        name: user.name,
        role: user.role,
        passwordHash,
        suspendedAt: user.suspended ? now : undefined,
        account: {
          name: `${user.name.split(' ')[0]}’s account`,
          capabilities: user.capabilities,
          verifiedAt: user.accountVerified ? now : null,
        },
      };
      await createCustomer(trx, customer, { id: demoId(0, index), accountId: demoId(1, index) });
    }
  });
}

export const hasDemoUsers = (db: Database): Promise<boolean> =>
  hasUsers(
    db,
    demoUsers.map((_, index) => demoId(0, index)),
  );

/** Does nothing if there is a seller already, or if the database is not one of local mode. */
export const seedDemoSeller = (db: Database, settings: object): Promise<void> =>
  inTransaction(db, { by: 'service', cause: 'demo seller' }, async (trx) => {
    await lockSettingsVersions(trx);
    if ((await findSettingsInForce(trx)) || !(await hasDemoUsers(trx))) return;
    await insertSettingsVersion(trx, {
      settings,
      ...{ begins: 'now', madeBy: 'local mode', actorId: null, why: 'A seller to try billing with' },
    });
  });
