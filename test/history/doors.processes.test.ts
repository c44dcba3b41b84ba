// Every change is kept with who made it and why, however it was made (contract 9.104 and 9.105).
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { type Change, tracked } from '../../db/tables/changes.ts';
import { updateUser } from '../../db/tables/users.ts';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { type Answer, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { runCli } from '../support/app/cli.ts';
import { recordLog } from '../support/app/log.ts';
import { logIn, openBrowser } from '../support/app/visitor.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { countRows, idOf, openFreshDatabase } from '../support/database/database.ts';
import { openOtherRole } from '../support/database/database-role.ts';
import { connect } from '../support/database/postgres.ts';
import { listChanges, summarize } from '../support/history/history.ts';
import { buildHandOff, handOver } from '../support/marketplace/marketplace.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { findText, makeDue, runErasure } from '../support/people/leaving.ts';
import { setUp } from '../support/people/totp-app.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const folder = await sharedFolder();
const app = shared(openApp);
const mails = shared(() => openBackend({ databaseUrl: app.databaseUrl }));
const other = shared(() => openOtherRole(app.db, app.databaseUrl));

async function changesBy(work: () => Promise<unknown>): Promise<Change[]> {
  const before = new Set((await listChanges(app.db)).map(({ id }) => id));
  await work();
  return (await listChanges(app.db)).filter(({ id }) => !before.has(id));
}

const requestOf = ({ headers }: Answer) => headers.get('x-request-id');

function nonceOf(url: string): string {
  const payload = new URL(url, 'http://localhost').searchParams.get('payload') ?? '';
  return JSON.parse(Buffer.from(payload, 'base64url').toString()).nonce;
}

const cli = async (args: string[], input?: string) => {
  const outcome = await runCli(app.databaseUrl, args, input);
  expect(outcome).toMatchObject({ code: 0 });
  return outcome;
};

describe('a person', () => {
  it('changes names on a page and by tRPC: what, from, to, who and which request', async () => {
    const browser = await logIn(app.send, 'customer@example.test');
    const userId = await idOf(app.db, 'customer@example.test');
    let answer: Answer | undefined;
    const onPage = await changesBy(async () => {
      const form = { intent: 'names', name: 'Page Name', accountName: 'Page Account' };
      answer = await browser.send('/profile', { form });
    });
    expect(summarize(onPage)).toEqual([
      'account changed name, name_edited_at by person',
      'user changed name, name_edited_at by person',
    ]);
    expect(onPage[1]).toMatchObject({
      userId,
      byUser: userId,
      requestId: answer && requestOf(answer),
      cause: null,
      members: { name: { from: 'Casey Customer', to: 'Page Name' } },
    });
    expect(onPage[0]?.members?.name).toEqual({ from: 'Casey’s account', to: 'Page Account' });
    const byProgram = await changesBy(() =>
      browser.send('/trpc/profile.update', { json: { json: { name: 'Program Name' } } }),
    );
    expect(byProgram).toMatchObject([
      { by: 'person', byUser: userId, members: { name: { from: 'Page Name', to: 'Program Name' } } },
    ]);
  });

  it('logs in, launches, changes a password and adds second factors without a change that is kept', async () => {
    const browser = openBrowser(app.send);
    const changes = await changesBy(async () => {
      expect((await browser.login('merchant@example.test')).status).toBe(303);
      for (let n = 0; n < 2; n++) expect((await browser.send('/sso/launch/marketplace')).status).toBe(303);
      await addPasskey(browser);
      await setUp(browser, Date.now());
      const form = {
        intent: 'password',
        currentPassword: 'local demo password',
        newPassword: 'seven quiet lanterns',
      };
      expect((await browser.send('/profile/security', { form })).status).toBe(303);
      await browser.send('/logout', { method: 'POST' });
    });
    expect(changes).toEqual([]);
  });

  it('signs up, changes the address and has it back, by links in emails', async () => {
    const email = 'doors-new@example.test';
    const browser = openBrowser(app.send);
    await browser.send('/signup', { form: { name: 'Dora Doors', email } });
    const token = await readToken(mails, email, 'sign_up');
    const created = await changesBy(() =>
      browser.send(`/signup/confirm?token=${token}`, {
        form: { name: 'Dora Doors', newPassword: 'seven quiet lanterns' },
      }),
    );
    expect(summarize(created)).toEqual([
      'account created name, capabilities by person',
      'user created name, role, email, account_id, holds_email, email_verified_at by person',
    ]);
    await browser.send('/profile/email', { form: { email: 'doors-newer@example.test' } });
    const change = await readToken(mails, 'doors-newer@example.test', 'change_email');
    const changed = await changesBy(() =>
      browser.send(`/profile/email/confirm?token=${change}`, { form: {} }),
    );
    const userId = await idOf(app.db, 'doors-newer@example.test');
    expect(changed).toMatchObject([
      { by: 'person', byUser: userId, members: { email: { from: email, to: 'doors-newer@example.test' } } },
    ]);
    const undo = await readToken(mails, email, 'undo_email_change', 2);
    // The link in the mail needs no login, so the history names no user.
    const undone = await changesBy(() =>
      app.send(`/take-back?token=${undo}`, { form: { newPassword: 'eight louder lanterns' } }),
    );
    expect(undone).toMatchObject([
      { by: 'person', byUser: null, members: { email: { from: 'doors-newer@example.test', to: email } } },
    ]);
  });

  it('plans a deletion and cancels it', async () => {
    const browser = await logIn(app.send, 'new-merchant@example.test');
    const changes = await changesBy(async () => {
      await browser.send('/profile/delete', { form: { intent: 'delete' } });
      await browser.send('/profile/delete', { form: { intent: 'keep' } });
    });
    expect(summarize(changes)).toEqual(Array(2).fill('user changed deletion_due_at by person'));
  });
});

describe('the marketplace', () => {
  it('makes and changes people by hand-offs, with the nonce of each', async () => {
    const id = 'doors-hand-off';
    const first = await buildHandOff(app, { id, capabilities: ['sell_services'], role: 'merchant' });
    const created = await changesBy(() => app.send(first));
    expect(created.map(({ subject, kind, by, cause }) => [subject, kind, by, cause])).toEqual(
      ['account', 'user', 'link'].map((subject) => [subject, 'created', 'marketplace', nonceOf(first)]),
    );
    const second = await buildHandOff(app, { id, name: 'Newer Name', profileUpdatedAt: new Date() });
    const changed = await changesBy(() => app.send(second));
    expect(changed).toMatchObject([
      { subject: 'link', members: { capabilities: { from: ['sell_services'], to: [] } } },
      { subject: 'account', members: { capabilities: { from: ['sell_services'], to: [] } } },
      {
        subject: 'user',
        cause: nonceOf(second),
        members: { name: { from: 'User doors-hand-off', to: 'Newer Name' } },
      },
    ]);
    expect(
      await changesBy(async () => app.send(await buildHandOff(app, { id, name: 'Newer Name' }))),
    ).toEqual([]);
  });

  it('is not who connects: that is the person, by a click, and the hand-off is the cause', async () => {
    const browser = await logIn(app.send, 'new-merchant@example.test');
    const profile = { id: 'doors-connect', email: 'new-merchant@example.test' };
    const url = await buildHandOff(app, profile);
    const page = (await browser.send(url)).headers.get('location') ?? '';
    expect(page).toMatch(/^\/continue/);
    const changes = await changesBy(() => browser.send(page, { form: {} }));
    const userId = await idOf(app.db, 'new-merchant@example.test');
    expect(changes.length).toBeGreaterThan(1);
    expect(changes.find(({ subject }) => subject === 'link')).toMatchObject({ kind: 'created', userId });
    for (const change of changes)
      expect(change).toMatchObject({ by: 'person', byUser: userId, cause: nonceOf(url) });
  });

  it('brings people over by an import, with file and line', async () => {
    const file = join(folder, 'people.ndjson');
    const line = (id: string) =>
      JSON.stringify({
        id,
        email: `${id}@example.test`,
        name: `User ${id}`,
        role: 'customer',
        account: { capabilities: [] },
        profile_updated_at: '2026-01-01T00:00:00.000Z',
      });
    await writeFile(file, [line('doors-line-1'), '', line('doors-line-3')].join('\n'));
    const changes = await changesBy(() => cli(['import', file]));
    expect(changes.map(({ by, cause }) => [by, cause])).toEqual([
      ...Array(3).fill(['marketplace', 'people.ndjson:1']),
      ...Array(3).fill(['marketplace', 'people.ndjson:3']),
    ]);
  });

  it('moves a link from the person who typed an address to its holder, and each person has their own change', async () => {
    const id = 'doors-typed';
    const email = 'doors-holder@example.test';
    await handOver(app, { id, email, emailVerified: false });
    const typed = await idOf(app.db, email);
    await pushSignup(app, buildSignup('crm_doors_holder', { user: { email, name: 'Holder' } }));
    const changes = await changesBy(async () =>
      app.send(await buildHandOff(app, { id, email, profileUpdatedAt: new Date() })),
    );
    const holder = await idOf(app.db, email);
    expect(holder).not.toBe(typed);
    const links = changes.filter(({ subject }) => subject === 'link');
    expect(
      links.map(({ kind, userId, rowId, members }) => [kind, userId, rowId, members?.external_id]),
    ).toEqual([
      ['removed', typed, null, undefined],
      ['created', holder, `marketplace:${id}`, { from: null, to: id }],
    ]);
  });
});

describe('the CRM', () => {
  it('makes customers and contracts, and changes them, with the webhook-id', async () => {
    const signup = buildSignup('crm_doors');
    let answer: Answer | undefined;
    const created = await changesBy(async () => {
      answer = await sendSignup(app, signup, { webhookId: 'msg_doors_1' });
    });
    expect(summarize(created).map((line) => line.replace(/ed .* by/, 'ed by'))).toEqual([
      'account created by crm',
      'user created by crm',
      'contract created by crm',
    ]);
    for (const change of created)
      expect(change).toMatchObject({
        cause: 'msg_doors_1',
        requestId: answer && requestOf(answer),
        byUser: null,
      });
    const report = { ...signup, occurred_at: new Date().toISOString() };
    report.contract = { ...signup.contract, status: 'active', plan: 'pro' };
    const changed = await changesBy(() => sendSignup(app, report, { webhookId: 'msg_doors_2' }));
    expect(changed).toMatchObject([
      {
        subject: 'contract',
        cause: 'msg_doors_2',
        userId: created[1]?.userId,
        members: { plan: { from: 'starter', to: 'pro' }, status: { from: 'trialing', to: 'active' } },
      },
    ]);
    expect(await changesBy(() => sendSignup(app, report, { webhookId: 'msg_doors_2' }))).toEqual([]);
  });
});

describe('an operator', () => {
  it('creates, suspends, resumes and plans to delete, each by the name of the command', async () => {
    const email = 'doors-cli@example.test';
    const steps: [string[], string][] = [
      [['user:create', '--email', email, '--name', 'Cleo'], 'seven quiet lanterns'],
      [['user:suspend', email], ''],
      [['user:resume', email], ''],
      [['user:delete', email], ''],
    ];
    for (const [args, input] of steps) {
      const changes = await changesBy(() => cli(args, input));
      expect(changes.length, args[0]).toBeGreaterThan(0);
      for (const change of changes)
        expect(change).toMatchObject({ by: 'operator', cause: args[0], byUser: null });
    }
  });

  it('cancels a contract', async () => {
    await pushSignup(app, buildSignup('crm_doors_cancel'));
    expect(await changesBy(() => cli(['contract:cancel', 'crm_doors_cancel']))).toMatchObject([
      { by: 'operator', cause: 'contract:cancel', members: { status: { from: 'trialing', to: 'canceled' } } },
    ]);
  });

  it('makes a contract that a job has found past due active again, by a payment', async () => {
    const contract = {
      plan: 'starter',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
    };
    await pushSignup(app, buildSignup('crm_doors_due', { contract }));
    await setSettings(app.db);
    const { log } = recordLog();
    const now = () => new Date();
    const billed = await changesBy(async () => {
      await runBilling({ db: app.db, now, log });
      await app.db.connection().execute(async (db) => {
        // Only the role that owns the database may change when an invoice is due.
        await sql`set session_replication_role = replica`.execute(db);
        await sql`update invoices set due_at = now() - interval '1 hour', past_due_at = now() - interval '1 hour'
          where contract_id = (select id from service_contracts where signup_id = 'crm_doors_due')`.execute(
          db,
        );
        await sql`reset session_replication_role`.execute(db);
      });
      await runBilling({ db: app.db, now, log });
    });
    expect(billed).toMatchObject([
      { by: 'service', cause: 'billing', members: { status: { from: 'active', to: 'past_due' } } },
    ]);
    const { rows } = await sql<{
      number: string;
    }>`select document as number from invoices i join service_contracts c
      on c.id = i.contract_id where signup_id = 'crm_doors_due'`.execute(app.db);
    expect(
      await changesBy(() => cli(['payment:record', String(rows[0]?.number), '--amount', '34.51'])),
    ).toMatchObject([
      { by: 'operator', cause: 'payment:record', members: { status: { from: 'past_due', to: 'active' } } },
    ]);
  });
});

it('the service made the demo users, and erases people who are due', async () => {
  const seeded = (await listChanges(app.db)).filter(({ cause }) => cause === 'demo users');
  expect(seeded.filter(({ subject, by }) => subject === 'user' && by === 'service')).toHaveLength(7);
  await pushSignup(app, buildSignup('crm_doors_erased'));
  await makeDue(app.db, 'crm_doors_erased@example.test');
  const changes = await changesBy(() => runErasure(app.db));
  expect(changes.map(({ subject, kind, by, cause }) => [subject, kind, by, cause])).toEqual(
    expect.arrayContaining([
      ['user', 'removed', 'service', 'erasure'],
      ['account', 'removed', 'service', 'erasure'],
    ]),
  );
});

describe('SQL by another role of the database', () => {
  it('is kept as that role’s, with what it was before', async () => {
    const changes = await changesBy(() =>
      sql`update users set name = 'By Hand', role = 'manager' where email = 'manager@example.test'`.execute(
        other.db,
      ),
    );
    expect(changes).toMatchObject([
      {
        by: 'database',
        role: other.role,
        byUser: null,
        requestId: null,
        cause: null,
        members: { name: { from: 'Morgan Manager', to: 'By Hand' } },
      },
    ]);
    expect(Object.keys(changes[0]?.members ?? {})).toEqual(['name']);
  });

  it('is never believed to be somebody else’s', async () => {
    const changes = await changesBy(() =>
      other.db.transaction().execute(async (trx) => {
        const origin = JSON.stringify({ by: 'person', user: await idOf(app.db, 'admin@example.test') });
        await sql`select set_config('identity.origin', ${origin}, true)`.execute(trx);
        await sql`update users set name = 'Forged' where email = 'admin@example.test'`.execute(trx);
      }),
    );
    expect(changes).toMatchObject([{ by: 'database', byUser: null, role: other.role }]);
  });

  it('cannot write, change or empty the history, or make it its own', async () => {
    for (const statement of [
      `insert into changes (at, subject, kind, members, by, role) values (now(), 'user', 'changed', '{}', 'person', 'x')`,
      `update changes set role = 'somebody'`,
      'delete from changes',
      `create temp table copy (id uuid, name text);
        create trigger mine after insert on copy for each row execute function record_change('user', 'name')`,
    ])
      await expect(sql.raw(statement).execute(other.db), statement).rejects.toMatchObject({ code: '42501' });
  });

  it('cannot have its changes go to a table of its own', async () => {
    const changes = await changesBy(async () => {
      await sql`create temp table changes (like changes)`.execute(other.db);
      await sql`update users set name = 'Seen' where email = 'admin@example.test'`.execute(other.db);
      await sql`drop table pg_temp.changes`.execute(other.db);
    });
    expect(changes).toMatchObject([{ role: other.role, members: { name: { to: 'Seen' } } }]);
  });
});

it('the service’s own role, by hand, is not the service', async () => {
  const changes = await changesBy(async () => {
    const { db, close } = connect(app.databaseUrl);
    await inTransaction(db, { by: 'service', cause: 'before' }, async (trx) => {
      await sql`select 1`.execute(trx);
    });
    await sql`update users set name = 'Typed' where email = 'admin@example.test'`.execute(db);
    await close();
  });
  expect(changes).toMatchObject([{ by: 'database', cause: null }]);
});

it('no table with a history can be truncated', async () => {
  for (const { table } of Object.values(tracked))
    await expect(sql`truncate ${sql.table(table)} cascade`.execute(app.db)).rejects.toThrow(/no history/);
});

it('what is rolled back leaves nothing', async () => {
  const id = await idOf(app.db, 'customer@example.test');
  const before = await countRows(app.db, 'changes');
  const work = inTransaction(app.db, { by: 'service', cause: 'test' }, async (trx) => {
    await updateUser(trx, id, { name: 'Never' });
    throw new Error('changed my mind');
  });
  await expect(work).rejects.toThrow('changed my mind');
  expect(await countRows(app.db, 'changes')).toBe(before);
});

it('an update of nothing that is kept, or to what is there already, leaves nothing', async () => {
  const changes = await changesBy(async () => {
    await sql`update users set created_at = created_at + interval '1 second', name = name, password_hash = 'other'
      where email = 'manager@example.test'`.execute(app.db);
    await sql`update external_links set applied_profile_updated_at = now()`.execute(app.db);
    await sql`update service_contracts set created_at = now(), arrival_number = null`.execute(app.db);
  });
  expect(changes).toEqual([]);
});

/** Columns that the history does not keep, and why. */
const untracked: Record<string, string> = {
  'accounts.created_at': 'the time of the change that created it',
  'accounts.id': 'the id of the row',
  'accounts.sources_known': 'whether it was worked out who decided the rights from before',
  'external_links.applied_profile_updated_at': 'what a hand-off carried, of no meaning to people',
  'external_links.created_at': 'the time of the change that created it',
  'external_links.said_at': 'what a hand-off carried, of no meaning to people',
  'service_contracts.arrival_number': 'the order in which the CRM reads them',
  'service_contracts.billing_anchor_day': 'when it is invoiced',
  'service_contracts.chosen_cancels_at': 'when it ends is kept',
  'service_contracts.created_at': 'the time of the change that created it',
  'service_contracts.credit_from': 'what billing still has to do',
  'service_contracts.id': 'the id of the row',
  'service_contracts.next_period_starts_at': 'when it is invoiced',
  'service_contracts.price_each': 'the amount of all is kept',
  'service_contracts.price_quantity': 'the amount of all is kept',
  'service_contracts.reported_cancels_at': 'when it ends is kept',
  'users.created_at': 'the time of the change that created it',
  'users.frozen_at': 'a suspension, which is kept; audit events tell why',
  'users.has_authenticator': 'about a credential; audit events tell of it',
  'users.has_passkey': 'about a credential; audit events tell of it',
  'users.id': 'the id of the row',
  'users.passkeys_declined_at': 'says nothing of who somebody is; it is in the download',
  'users.password_hash': 'a credential',
  'users.profile_updated_at': 'moves with what is kept',
};

it('every column of a table with a history is kept, or there is a reason', async () => {
  const tables = Object.values(tracked).map(({ table }) => table);
  const { rows } = await sql<{ name: string }>`select table_name || '.' || column_name as name
    from information_schema.columns where table_schema = 'public' and table_name = any(${tables})`.execute(
    app.db,
  );
  const kept = Object.values(tracked).flatMap(({ table, columns }) =>
    columns.map((name) => `${table}.${name}`),
  );
  expect(rows.map(({ name }) => name).sort()).toEqual([...kept, ...Object.keys(untracked)].sort());
});

it('no credential is ever kept', async () => {
  const { rows } = await sql<{ name: string }>`
    select distinct subject || '.' || jsonb_object_keys(members) as name from changes where members is not null`.execute(
    app.db,
  );
  const known = Object.entries(tracked).flatMap(([subject, { columns }]) =>
    columns.map((column) => `${subject}.${column}`),
  );
  expect(known.filter((name) => /password|passkey|authenticator|secret|hash/.test(name))).toEqual([]);
  expect(rows.map(({ name }) => name).filter((name) => !known.includes(name))).toEqual([]);
  const hashes = await sql<{ hash: string }>`select distinct password_hash as hash from users
    where password_hash is not null`.execute(app.db);
  for (const { hash } of hashes.rows)
    expect((await findText(app.db, hash)).filter((column) => column.startsWith('changes'))).toEqual([]);
});

it('16 at once leave one chain, in which each change begins where the one before it ended', async () => {
  const email = 'unverified@example.test';
  const cookie = await app.login(email);
  const { send } = await app.startInstance();
  const changes = await changesBy(() =>
    Promise.all(
      Array.from({ length: 16 }, (_, n) =>
        (n % 2 ? send : app.send)('/trpc/profile.update', {
          cookie,
          json: { json: { name: `At Once ${n}` } },
        }),
      ),
    ),
  );
  const names = changes.map(({ members }) => members?.name);
  expect(names).toHaveLength(16);
  expect(new Set(names.map((name) => name?.to)).size).toBe(16);
  for (const [place, name] of names.entries())
    expect(name?.from).toBe(place === 0 ? 'Uma Unverified' : names[place - 1]?.to);
  const times = changes.map(({ at }) => at);
  expect(times).toEqual([...new Set(times)].sort());
});

it('a change is later than the one before it, also where the clock was set back', async () => {
  const id = await idOf(app.db, 'suspended@example.test');
  await sql`update changes set at = now() + interval '1 hour' where row_id = ${id}`.execute(app.db);
  const [change] = await changesBy(() =>
    sql`update users set name = 'Later' where id = ${id}`.execute(app.db),
  );
  expect(new Date(change?.at ?? 0).getTime()).toBeGreaterThan(Date.now() + 3_500_000);
  await sql`delete from changes where row_id = ${id}`.execute(app.db);
});

it('a row that was there before the history began is kept as it was before its first change', async () => {
  const id = await idOf(app.db, 'suspended@example.test');
  const changes = await changesBy(() =>
    sql`update users set name = 'First Change' where id = ${id}`.execute(app.db),
  );
  expect(changes).toMatchObject([
    { kind: 'found', by: null, members: { name: { from: null, to: 'Later' } } },
    { kind: 'changed', members: { name: { from: 'Later', to: 'First Change' } } },
  ]);
  expect(Object.keys(changes[0]?.members ?? {})).toEqual(
    expect.arrayContaining(['email', 'role', 'account_id']),
  );
});

it('is written without reading all of it, also by a session that began when there was little', async () => {
  const { db, close } = await openFreshDatabase();
  const write = async (count: number) => {
    for (let n = 0; n < count; n++)
      await sql`insert into accounts (id, name) values (gen_random_uuid(), 'Many')`.execute(db);
  };
  const countScans = async () => {
    await Promise.all(Array.from({ length: 8 }, () => sql`select pg_stat_force_next_flush()`.execute(db)));
    const { rows } = await sql<{ n: number }>`select seq_scan::int as n from pg_stat_user_tables
      where relname = 'changes'`.execute(db);
    return rows[0]?.n;
  };
  await write(3);
  await sql`analyze changes`.execute(db);
  const before = await countScans();
  await write(50);
  await new Promise((done) => setTimeout(done, 200));
  expect(((await countScans()) ?? 0) - (before ?? 0)).toBeLessThan(10);
  await close();
});
