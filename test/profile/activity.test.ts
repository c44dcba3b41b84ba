import { sql } from 'kysely';
import { beforeAll, describe, expect, it } from 'vitest';
import { selectActivity } from '../../db/tables/activity.ts';
import { type AuditEventType, auditEventTypes } from '../../db/tables/audit-event-types.ts';
import { recordAuditEvent } from '../../db/tables/audit-events.ts';
import { acts } from '../../server/staff/acts.ts';
import { openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { openBrowser, textOf } from '../support/app/visitor.ts';
import { idOf } from '../support/database/database.ts';
import { rights } from '../support/people/staff.ts';
import { readSources } from '../support/project/source-rules.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';
const firefox = 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0';

let mine: string;
let myId: string;
let now = new Date();
const app = shared(() => openApp({ now: () => now }));
beforeAll(async () => {
  myId = await idOf(app.db, email);
  mine = await app.login(email);
});

const listOf = (cookie: string, before?: string) =>
  openClient(app.send, cookie).activity.list.query({ before });

/** Stores an event as if it had happened `minutesAgo`. */
async function record(event: { type: string; reason?: string }, minutesAgo = 0): Promise<void> {
  const id = crypto.randomUUID();
  await recordAuditEvent(app.db, { id, userId: myId, ...event, type: event.type as AuditEventType });
  await sql`update audit_events set at = now() - make_interval(mins => ${minutesAgo}) where id = ${id}`.execute(
    app.db,
  );
}

describe('the activity of an account (contract 9.103)', () => {
  it('says what happened, when and with which browser, newest first', async () => {
    const { send } = openBrowser(app.send);
    const headers = { 'user-agent': firefox };
    await send('/login', { form: { email, password: 'a wrong password' }, headers });
    await expect.poll(async () => (await listOf(mine)).events[0]?.what).toContain('refused');
    await send('/login', { form: { email, password: 'local demo password' }, headers });
    const form = { intent: 'names', name: 'Somebody Else', accountName: 'Another <b>Name</b>' };
    await send('/profile', { form, headers });
    await send('/logout', { method: 'POST', headers });

    const { events } = await listOf(mine);
    expect(events.slice(0, 4)).toMatchObject([
      { what: 'Logged out', device: 'Firefox on Linux' },
      {
        what: 'Changed the name and account name',
        device: 'Firefox on Linux',
        by: 'By you',
        changes: [
          { what: 'Account name', from: 'Maya’s account', to: 'Another <b>Name</b>' },
          { what: 'Name', from: 'Maya Merchant', to: 'Somebody Else' },
        ],
      },
      { what: 'Logged in', device: 'Firefox on Linux', place: null },
      { what: 'A login was refused: the password was wrong', device: 'Firefox on Linux' },
    ]);
    expect(Math.abs(Date.now() - (events[0]?.at.getTime() ?? 0))).toBeLessThan(60_000);
    // The list has no typed text, address, id or secret.
    expect(events.map((event) => Object.keys(event).sort())).toEqual(
      events.map(() => ['at', 'by', 'changes', 'device', 'id', 'place', 'what']),
    );
  });

  it('says when a recovery code was used instead of the app', async () => {
    for (const factor of ['recovery_code', 'code']) {
      await recordAuditEvent(app.db, { type: 'login.succeeded', userId: myId, details: { factor } });
      const [newest] = (await listOf(mine)).events;
      expect(newest?.what).toBe(factor === 'code' ? 'Logged in' : 'Logged in with a recovery code');
    }
  });

  it('is on a page, and nobody else’s is', async () => {
    const page = await app.send('/profile/activity', { cookie: mine });
    expect(page.status).toBe(200);
    expect(page.text).toMatch(/<title>Activity · Identity<\/title>/);
    expect(textOf(page)).toContain('Changed the name and account name');
    expect(textOf(page)).toContain('Name: from Maya Merchant to Somebody Else');
    expect(textOf(page)).toMatch(/UTC · By you · Firefox on Linux/);
    const other = await app.send('/profile/activity', { cookie: await app.login('customer@example.test') });
    expect(textOf(other)).not.toContain('Changed the name');
  });

  it('does not say who an administrator is, and nothing that is kept from the person', async () => {
    const details = { by: 'ada@example.test' };
    await recordAuditEvent(app.db, { type: 'user.resumed', userId: myId, details });
    for (const type of ['hand_off.email_skipped', 'contract.moved', 'unheard.of'])
      await recordAuditEvent(app.db, {
        type: type as AuditEventType,
        userId: myId,
        reason: 'kept back',
        details,
      });
    const page = await app.send('/profile/activity', { cookie: mine });
    expect(textOf(page)).toContain('We ended the suspension of the account');
    expect(page.text).not.toMatch(/ada@|email_skipped|kept back|unheard/);
  });

  it('tells of contracts only once the address is proved', async () => {
    const cookie = await app.login('unverified@example.test');
    await sql`insert into audit_events (id, type, reason, user_id) select gen_random_uuid(), 'signup.accepted', 'created', id
      from users where email = 'unverified@example.test'`.execute(app.db);
    expect((await listOf(cookie)).events.map(({ what }) => what)).toEqual([
      'Logged in',
      'The account was created',
    ]);
    await sql`update users set email_verified_at = now() where email = 'unverified@example.test'`.execute(
      app.db,
    );
    expect((await listOf(cookie)).events.map(({ what }) => what)).toContain('A service contract was added');
  });

  it('goes back 90 days', async () => {
    await record({ type: 'password.changed' }, 90 * 24 * 60 - 5);
    await record({ type: 'link.removed' }, 90 * 24 * 60 + 5);
    const { events } = await listOf(mine);
    expect(events.at(-1)?.what).toBe('Changed the password');
    now = new Date(Date.now() + 10 * 60 * 1_000);
    expect((await listOf(mine)).events.map(({ what }) => what)).not.toContain('Changed the password');
    now = new Date();
  });

  it('needs a login', async () => {
    const page = await app.send('/profile/activity?before=x', { headers: { accept: 'text/html' } });
    expect([page.status, page.headers.get('location')]).toEqual([
      303,
      '/login?next=%2Fprofile%2Factivity%3Fbefore%3Dx',
    ]);
    expect(await refusalOf(listOf(''))).toMatchObject({ problem: 'login_required' });
  });
});

describe('its pages', () => {
  const total = 120;
  let cookie: string;
  let userId: string;
  beforeAll(async () => {
    cookie = await app.login('customer@example.test');
    userId = await idOf(app.db, 'customer@example.test');
    await sql`delete from audit_events where user_id = ${userId}`.execute(app.db);
    await sql`delete from changes where user_id = ${userId}
      or row_id = (select account_id::text from users where id = ${userId})`.execute(app.db);
    // Some events share a microsecond, and many share a millisecond.
    await sql`insert into audit_events (id, type, user_id, at)
      select gen_random_uuid(), 'login.succeeded', ${userId}, now() - (n / 3) * interval '1 microsecond'
      from generate_series(1, ${total}) n`.execute(app.db);
  });

  it('have 50 each, show every event once, in order, also while new ones come (contract 11.23)', async () => {
    const seen: string[] = [];
    const sizes: number[] = [];
    let before: string | undefined;
    do {
      const page: Awaited<ReturnType<typeof listOf>> = await listOf(cookie, before);
      seen.push(...page.events.map(({ id }) => id));
      sizes.push(page.events.length);
      before = page.next ?? undefined;
      await recordAuditEvent(app.db, { type: 'logout', userId });
    } while (before);
    expect(sizes).toEqual([50, 50, 20]);
    const { rows } = await sql<{ id: string }>`select id from audit_events
      where user_id = ${userId} and type = 'login.succeeded' order by at desc, id desc`.execute(app.db);
    expect(seen).toEqual(rows.map(({ id }) => id));
  });

  it('lead on and back by links, without script', async () => {
    const first = await app.send('/profile/activity', { cookie });
    expect(first.text).not.toContain('Back to newest');
    const [, link = ''] = /href="(\/profile\/activity\?before=[^"]+)"/.exec(first.text) ?? [];
    const second = await app.send(link, { cookie });
    expect(second.text.replace(/^.*<main/s, '').match(/<li>/g)).toHaveLength(50);
    expect(second.text).toContain('href="/profile/activity"');
    expect(second.text).toContain('>Older<');
  });

  it('end after the last event, and begin after no event of somebody else', async () => {
    const { rows } = await sql<{ id: string }>`select id from audit_events where user_id = ${userId}
      order by at, id limit 1`.execute(app.db);
    expect(await listOf(cookie, rows[0]?.id)).toEqual({ events: [], next: null });
    await record({ type: 'logout' });
    const [mineFirst] = (await listOf(mine)).events;
    expect(await listOf(cookie, mineFirst?.id)).toEqual({ events: [], next: null });
    expect(await listOf(cookie, crypto.randomUUID())).toEqual({ events: [], next: null });
    expect(await refusalOf(listOf(cookie, "1'"))).toMatchObject({ problem: 'validation_failed' });
    const page = await app.send('/profile/activity?before=1', { cookie, headers: { accept: 'text/html' } });
    expect(page.status).toBe(422);
  });

  it('read little more than a page of 100,000 events, most with a change, and of as many accounts', async () => {
    await sql`analyze users`.execute(app.db);
    const accountId = (
      await sql<{ id: string }>`select account_id as id from users where id = ${userId}`.execute(app.db)
    ).rows[0]?.id;
    for (let batch = 0; batch < 12; batch++) {
      const series = sql`generate_series(${batch * 10_000 + 1}::int, ${(batch + 1) * 10_000}::int) n`;
      await sql`insert into audit_events (id, type, user_id, at)
        select gen_random_uuid(), 'login.succeeded', case n % 6 when 0 then gen_random_uuid() else ${userId}::uuid end,
          now() - n * interval '1 minute'
        from ${series}`.execute(app.db);
      await sql`insert into changes (at, began_at, subject, row_id, user_id, kind, members, by, role)
        select e.at, e.at, s.subject, case s.subject when 'user' then e.user_id::text else ${accountId}::text end,
          case s.subject when 'user' then e.user_id end, 'changed', '{}', 'person', 'test'
        from audit_events e, (values ('user'), ('account')) s(subject)
        where e.at between now() - ${(batch + 1) * 10_000} * interval '1 minute'
          and now() - ${batch * 10_000 + 1} * interval '1 minute' and e.type = 'login.succeeded'`.execute(
        app.db,
      );
    }
    await sql`analyze audit_events, changes`.execute(app.db);
    const { rows } = await sql<{
      id: string;
      at: string;
    }>`select id, at::text from audit_events where user_id = ${userId}
      order by at desc offset 60000 limit 1`.execute(app.db);
    const types = ['login.succeeded', 'logout'];
    const whose = { userId, accountId: accountId ?? '', types, withContracts: true };
    for (const last of [undefined, rows[0]]) {
      const query = selectActivity({ ...whose, after: new Date(0), last, limit: 51 });
      const [plan] = (await sql`explain (analyze, buffers, format json) ${query}`.execute(app.db)).rows;
      const [{ Plan }] = (plan as { 'QUERY PLAN': [{ Plan: Record<string, unknown> }] })['QUERY PLAN'];
      expect(JSON.stringify(Plan)).not.toContain('Seq Scan');
      expect(Number(Plan['Shared Hit Blocks']) + Number(Plan['Shared Read Blocks'])).toBeLessThan(2_000);
    }
  });
});

it('has words for every type of event that is recorded, or keeps it back', () => {
  const recorders = readSources().filter(({ text }) =>
    /\b(?:record(?:Audit|Actor)|deferAudit)Event\b|(?<!\.)\brecord\(/.test(text),
  );
  const types = recorders.flatMap(({ text }) => {
    const literals = [...text.matchAll(/'([a-z_]+\.[a-z_]+)'/g)].map(([, type]) => type ?? '');
    const plain = [...text.matchAll(/\btype: '([a-z_]+)'/g)].map(([, type]) => type ?? '');
    return [...literals, ...plain];
  });
  expect(recorders.filter(({ text }) => /type: `/.test(text)).map(({ file }) => file)).toEqual([]);
  const recorded = [
    ...new Set([
      ...types,
      'invoice.paid',
      'invoice.void',
      ...Object.values(acts).flatMap((act) => ('event' in act && act.event) || []),
    ]),
  ];
  expect(recorded).toEqual(expect.arrayContaining(['login.succeeded', 'logout', 'user.suspended']));
  const isRight = (type: string) => type in rights;
  expect(recorded.filter((type) => !(type in auditEventTypes) && !isRight(type))).toEqual([]);
});
