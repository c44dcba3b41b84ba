// What accounts may do, in a database from before the service recorded who had decided it (contract 2.69).
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { beforeAll, describe, expect, it } from 'vitest';
import { openFreshDatabase } from '../support/database/database.ts';
import { shared } from '../support/run/shared.ts';

const client = shared(openFreshDatabase);

type Step = { by: 'marketplace' | 'person' | 'operator' | 'database'; to: string[]; verified?: boolean };

/**
 * Adds an account as earlier versions left it, which did not record who decides. `steps` have set its rights one after the
 * other.
 */
async function addAccount({ isLinked, steps }: { isLinked: boolean; steps: Step[] }): Promise<string> {
  const [accountId, userId] = [uuidv7(), uuidv7()];
  const { to: capabilities = [], verified = false } = steps.at(-1) ?? {};
  await client.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`insert into accounts (id, name, capabilities, verified_at, sources_known)
      values (${accountId}, 'Old', ${capabilities}, ${verified ? new Date() : null}, false)`.execute(trx);
    await sql`insert into users (id, account_id, email, holds_email, name, role)
      values (${userId}, ${accountId}, ${`${userId}@example.test`}, true, 'Old', 'user')`.execute(trx);
    if (isLinked)
      await sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at)
        values ('marketplace', ${userId}, ${userId}, now())`.execute(trx);
    let before: Omit<Step, 'by'> = { to: [] };
    for (const { by, ...after } of steps) {
      const told = {
        capabilities: { from: before.to, to: after.to },
        ...(after.verified && !before.verified && { verified_at: { to: new Date() } }),
      };
      await sql`insert into changes (at, subject, row_id, user_id, account_id, kind, members, role, by)
        values (clock_timestamp(), 'account', ${accountId}, ${userId}, ${accountId}, 'changed', ${JSON.stringify(told)}, 'identity', ${by})`.execute(
        trx,
      );
      before = after;
    }
  });
  return accountId;
}

type Case = [
  what: string,
  before: Parameters<typeof addAccount>[0],
  said: string[] | null,
  here: string[] | null,
];

const cases: Case[] = [
  [
    'a hand-off',
    { isLinked: true, steps: [{ by: 'marketplace', to: ['sell_services'] }] },
    ['sell_services'],
    null,
  ],
  [
    'a Connect',
    { isLinked: true, steps: [{ by: 'person', to: ['sell_services'] }] },
    ['sell_services'],
    null,
  ],
  ['SQL', { isLinked: true, steps: [{ by: 'database', to: ['sell_services'] }] }, null, ['sell_services']],
  [
    'a command',
    { isLinked: true, steps: [{ by: 'operator', to: ['sell_services'] }] },
    null,
    ['sell_services'],
  ],
  [
    'a hand-off, without a link any more',
    { isLinked: false, steps: [{ by: 'marketplace', to: ['sell_services'] }] },
    null,
    ['sell_services'],
  ],
  [
    'SQL and then a hand-off, each one of them',
    {
      isLinked: true,
      steps: [
        { by: 'database', to: ['manage_storefront'] },
        { by: 'marketplace', to: ['manage_storefront', 'sell_products'], verified: true },
      ],
    },
    ['sell_products', 'verified'],
    ['manage_storefront'],
  ],
  [
    'SQL, and then by a hand-off again after it was taken',
    {
      isLinked: true,
      steps: [
        { by: 'database', to: ['sell_services'], verified: true },
        { by: 'marketplace', to: [], verified: true },
        { by: 'marketplace', to: ['sell_services'], verified: true },
      ],
    },
    ['sell_services'],
    ['verified'],
  ],
];

const old: Case = [
  'nobody knows whom',
  { isLinked: true, steps: [{ by: 'database', to: ['sell_services'], verified: true }] },
  ['sell_services', 'verified'],
  null,
];

const readRights = async (id: string) => {
  const { rows } = await sql<{ capabilities: string[]; verified: boolean }>`
    select capabilities, verified_at is not null as verified from accounts where id = ${id}`.execute(
    client.db,
  );
  return [...(rows[0]?.capabilities ?? []), ...(rows[0]?.verified ? ['verified'] : [])];
};

const inOneOf = (id: string) => sql`user_id in (select id from users where account_id = ${id})`;

/**
 * Statements that may be the first to touch an account of an earlier version. If `leavesSaid` is true, the account keeps the
 * rights that its link gave.
 */
const touches: [what: string, touch: (id: string) => Promise<unknown>, leavesSaid: boolean][] = [
  ['its sources are asked for', (id) => sql`select know_sources(${id})`.execute(client.db), true],
  ['its link goes', (id) => sql`delete from external_links where ${inOneOf(id)}`.execute(client.db), false],
  [
    'a profile without capabilities arrives for its link',
    (id) =>
      sql`update external_links set capabilities = '{}', verified = false, said_at = now(), applied_profile_updated_at = now()
        where ${inOneOf(id)}`.execute(client.db),
    false,
  ],
  [
    'another link takes the place of its link',
    (id) =>
      client.db.transaction().execute(async (trx) => {
        await sql`delete from external_links where ${inOneOf(id)}`.execute(trx);
        await sql`insert into external_links (provider, external_id, user_id, capabilities, verified, said_at, applied_profile_updated_at)
          select 'marketplace', id || '-2', id, '{}', false, now(), now() from users where account_id = ${id}`.execute(
          trx,
        );
      }),
    false,
  ],
  [
    'SQL changes its capabilities in between',
    async (id) => {
      await sql`update accounts set capabilities = capabilities || '{sell_media_inventory}' where id = ${id}`.execute(
        client.db,
      );
      await sql`update accounts set capabilities = array_remove(capabilities, 'sell_media_inventory') where id = ${id}`.execute(
        client.db,
      );
    },
    true,
  ],
  [
    'its user moves to another account, and back',
    async (id) => {
      const other = uuidv7();
      const { rows } = await sql<{ id: string }>`select id from users where account_id = ${id}`.execute(
        client.db,
      );
      await sql`insert into accounts (id, name) values (${other}, 'Other')`.execute(client.db);
      await sql`update users set account_id = ${other} where account_id = ${id}`.execute(client.db);
      await sql`update users set account_id = ${id} where id = ${rows[0]?.id}`.execute(client.db);
    },
    true,
  ],
];

const ids = new Map<string, string>();
beforeAll(async () => {
  for (const [touch] of touches) {
    for (const [what, before] of [...cases, old]) {
      const id = await addAccount(before);
      ids.set(`${touch}: ${what}`, id);
      if (what === old[0]) await sql`delete from changes where row_id = ${id}`.execute(client.db);
    }
  }
});

describe.each(touches)('once %s', (touchName, touch, leavesSaid) => {
  it.each([...cases, old])(
    'anything given by %s counts as decided by the right side',
    async (what, _before, said, here) => {
      const id = ids.get(`${touchName}: ${what}`) ?? '';
      await touch(id);
      expect((await readRights(id)).sort()).toEqual(
        [...(leavesSaid ? (said ?? []) : []), ...(here ?? [])].sort(),
      );
      await sql`delete from external_links where ${inOneOf(id)}`.execute(client.db);
      expect((await readRights(id)).sort()).toEqual([...(here ?? [])].sort());
    },
  );
});
