// Which mails leave first. In this test, the mail server is a function.
import { sql } from 'kysely';
import { beforeEach, expect, it } from 'vitest';
import { type Lane, lanes, lockDueMails } from '../../db/tables/mails.ts';
import { letters } from '../../server/mail/letters.ts';
import type { Message } from '../../server/mail/mailer.ts';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { openBackend } from '../support/app/backend.ts';
import { emptyTables } from '../support/database/empty-tables.ts';
import { shared } from '../support/run/shared.ts';

const test = shared(openBackend);
beforeEach(async () => {
  await emptyTables(test.db, 'mails', 'mail_tokens', 'take_back_changes');
});

/** Adds a mail that has waited for `minutes` minutes, with the columns that every version writes. */
async function addMail(kind: string, { details = {}, minutes = 1, recipient = kind } = {}): Promise<void> {
  await sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
    select gen_random_uuid(), ${kind}, u.id, ${`${recipient}@example.test`},
      ${JSON.stringify({ at: new Date().toISOString(), ...details })}::jsonb,
      now() - make_interval(mins => ${minutes}), now() - make_interval(mins => ${minutes})
    from users u where u.email = 'customer@example.test'`.execute(test.db);
}

const addMany = (count: number, kind = 'new_browser') =>
  sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
    select gen_random_uuid(), ${kind}, u.id, 'n' || n || '@example.test', '{}', now(), now()
    from generate_series(1, ${count}::int) n, users u where u.email = 'customer@example.test'`.execute(
    test.db,
  );

/** Sends the mails that are due. Returns the recipients in the order in which their mails left. */
async function send(which?: Lane[]): Promise<string[]> {
  const given: string[] = [];
  const mailer = {
    send: async ({ to }: Message) => void given.push(to.split('@')[0] ?? ''),
    close: () => undefined,
  };
  await sendDueMails(test.backend.deps, mailer, new AbortController().signal, which);
  return given;
}

it('every link that was asked for goes before notices and welcomes that have waited for longer', async () => {
  const asked = Object.keys(letters).filter((kind) => kind !== 'welcome');
  expect(asked.length).toBeGreaterThan(4);
  await sql`insert into new_addresses (id, user_id, email, asked_at, expires_at)
    select gen_random_uuid(), id, 'new@example.test', now(), now() + interval '1 day'
    from users where email = 'customer@example.test'`.execute(test.db);
  for (let n = 0; n < 15; n++) await addMail('welcome', { minutes: 60, recipient: `welcome-${n}` });
  for (let n = 0; n < 15; n++) await addMail('passkey_removed', { minutes: 60, recipient: `notice-${n}` });
  const invitation = crypto.randomUUID();
  await sql`insert into staff_invitations (id, email, role, sent_at, expires_at)
    values (${invitation}, 'invitation@example.test', 'admin', now(), now() + interval '1 day')`.execute(
    test.db,
  );
  for (const kind of asked) {
    const isLate = /new_address$|^invoice_email$|^invitation$/.test(kind);
    await addMail(kind, { details: { ...(isLate && { until: '' }), invitation } });
  }
  const order = await send();
  expect(order.slice(0, asked.length).sort()).toEqual(asked.sort());
  expect(order).toHaveLength(30 + asked.length);
});

it('a mail with a take-back link goes before notices', async () => {
  const until = new Date(Date.now() + 60 * 60 * 1_000).toISOString();
  const change = crypto.randomUUID();
  await sql`insert into take_back_changes (id, user_id, email, what, at, expires_at)
    select ${change}::uuid, id, 'told@example.test', 'passkey_added', now(), ${until}::timestamptz from users
      where email = 'customer@example.test'`.execute(test.db);
  for (let n = 0; n < 15; n++) await addMail('passkey_removed', { minutes: 60, recipient: `notice-${n}` });
  await addMail('passkey_added', { details: { until, change }, recipient: 'told' });
  expect((await send())[0]).toBe('told');
});

// Contract 9.274.
it('mails to holders go before sign-ups that have waited for longer', async () => {
  const caused = ['sign_up', 'account_exists', 'invoice_email'];
  for (let n = 0; n < 15; n++) {
    const kind = caused[n % 3] ?? '';
    const details = kind === 'invoice_email' ? { until: '' } : {};
    await addMail(kind, { minutes: 60, recipient: `${kind}-${n}`, details });
  }
  const holders = ['set_password', 'prove_address', 'verify_email', 'change_email'];
  for (const kind of holders) await addMail(kind);
  const order = await send();
  expect(order.slice(0, holders.length).sort()).toEqual(holders.sort());
  expect(order).toHaveLength(15 + holders.length);
});

it('no lane sends what is of another', async () => {
  for (const kind of ['set_password', 'sign_up', 'new_browser']) await addMail(kind);
  expect(await send(['sign_ups'])).toEqual(['sign_up']);
  expect(await send(['holders'])).toEqual(['set_password']);
  expect(await send(['other'])).toEqual(['new_browser']);
});

const flood = async () => {
  await addMany(20_000);
  await addMany(20_000, 'sign_up');
};

// Postgres may have made its statistics of the table before the flood.
it.each([
  ['that it has never looked at', flood],
  [
    'that was empty when it looked',
    async () => {
      await sql`vacuum analyze mails`.execute(test.db);
      await flood();
    },
  ],
  [
    'that it knows',
    async () => {
      await flood();
      await sql`vacuum analyze mails`.execute(test.db);
    },
  ],
])('Postgres finds the next mails of a lane by its own index, in a table %s', async (_, prepare) => {
  // If two indexes cost the same, Postgres uses the newer one. After a restore, either index may be newer, so this makes the
  // wrong one newer.
  await sql`drop index mails_next_attempt_at_idx`.execute(test.db);
  await sql`create index mails_next_attempt_at_idx on mails (next_attempt_at)
    where sent_at is null and given_up_at is null`.execute(test.db);
  await prepare();
  for (const lane of lanes) {
    const query = lockDueMails(test.db, { lane, now: new Date(), limit: 10 });
    const { rows } = await sql<{ 'QUERY PLAN': string }>`explain (analyze, costs off) ${query}`.execute(
      test.db,
    );
    const plan = rows.map((line) => line['QUERY PLAN']).join('\n');
    expect(plan).toMatch(new RegExp(`Index Scan using mails_${lane}_idx`));
    expect(plan).not.toMatch(/Sort|Removed by Filter/);
  }
});

it('a mail of a kind that this version does not know is neither sent nor deleted: it waits for the version that does', async () => {
  await sql`insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
    select gen_random_uuid(), 'of_a_later_version', id, 'later@example.test', '{"until": ""}', now(), now()
    from users where email = 'customer@example.test'`.execute(test.db);
  await addMail('set_password');
  await expect(send(['holders'])).rejects.toThrow('Invalid time value');
  const read = async () =>
    (
      await sql<{
        kind: string;
        waits: boolean;
      }>`select kind, sent_at is null and given_up_at is null as waits
        from mails order by kind`.execute(test.db)
    ).rows;
  await expect.poll(read).toEqual([
    { kind: 'of_a_later_version', waits: true },
    { kind: 'set_password', waits: false },
  ]);
});
