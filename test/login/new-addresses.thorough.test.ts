// New email addresses that every form refuses. People who already have such an address keep it (contract 9.12 to 9.14).
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { dryRunImport, importProfiles } from '../../server/marketplace/import.ts';
import type { LineResult } from '../../server/marketplace/import-report.ts';
import { codeOf, openApp, openProductionApp, type TestApp } from '../support/app/app.ts';
import { textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { digestRows } from '../support/database/database.ts';
import { buildHandOff, handOver, openHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const local = shared(openApp);
const live = shared(openProductionApp);

const password = 'local demo password';
const nowhere = ['a@b', 'a@127.0.0.1', 'a@1.2', 'a@[127.0.0.1]', 'a@[ipv6:::1]', 'a@0x7f.1'];
const localOnly = ['a@localhost', 'a@shop.localhost', 'a@new.test'];
const cases = () => [
  ...nowhere.flatMap((email) => [
    { mode: 'local mode', app: local, email, isRefused: true },
    { mode: 'production', app: live, email, isRefused: true },
  ]),
  ...[...localOnly, 'a@new.example'].flatMap((email) => [
    { mode: 'local mode', app: local, email, isRefused: false },
    { mode: 'production', app: live, email, isRefused: localOnly.includes(email) },
  ]),
];
let serial = 0;
/** Another address of the same domain, because the limits for each email address are not the subject here. */
const fresh = (email: string) => email.replace('a@', `a${++serial}@`);
const from = () => `10.${++serial % 250}.${serial % 250}.1`;

/** Gives a demo user an email address that was allowed in earlier versions. */
async function giveOld({ db }: TestApp, who: string): Promise<string> {
  const email = fresh(['a@localhost', 'a@b', 'a@1.2'][serial % 3] ?? '');
  await sql`update users set email = ${email} where email = ${who}`.execute(db);
  return email;
}

describe('an address that no mail can be sent to', () => {
  it('is refused at the sign-up, even if somebody has it', async () => {
    for (const { app, mode, email, isRefused } of cases()) {
      const answer = await app.send('/signup', { form: { name: 'Nia', email: fresh(email) }, from: from() });
      expect(answer.status, `${email} in ${mode}`).toBe(isRefused ? 422 : 303);
      if (isRefused) expect(textOf(answer)).toContain('Enter an email address in the correct format');
    }
    const held = await giveOld(live, 'unverified@example.test');
    expect((await live.send('/signup', { form: { name: 'Nia', email: held }, from: from() })).status).toBe(
      422,
    );
  });

  it('is refused as a new address', async () => {
    const cookies = new Map<TestApp, string>();
    for (const app of [local, live]) cookies.set(app, await app.login('customer@example.test'));
    for (const { app, mode, email, isRefused } of cases()) {
      const form = { email: fresh(email) };
      const answer = await app.send('/profile/email', { form, cookie: cookies.get(app), from: from() });
      expect(answer.status, `${email} in ${mode}`).toBe(isRefused ? 422 : 303);
    }
  });

  it('is refused from the CRM for somebody new, and nothing is made', async () => {
    for (const { app, mode, email, isRefused } of cases()) {
      const before = await digestRows(app.db, ['users', 'service_contracts']);
      const signup = buildSignup(`crm_${++serial}`, { user: { email: fresh(email), name: 'Nia' } });
      const answer = await sendSignup(app, signup);
      expect(answer.status, `${email} in ${mode}`).toBe(isRefused ? 422 : 201);
      if (!isRefused) continue;
      expect(JSON.parse(answer.text)).toMatchObject({
        code: 'validation_failed',
        errors: [{ pointer: '/user/email' }],
      });
      expect(await digestRows(app.db, ['users', 'service_contracts'])).toBe(before);
    }
  });

  it('is refused in a hand-off for somebody new, verified or not, which uses nothing up', async () => {
    for (const { app, mode, email, isRefused } of cases())
      for (const emailVerified of [true, false]) {
        const user = { id: `new-${++serial}`, email: fresh(email), emailVerified };
        const before = await digestRows(app.db, ['users', 'accounts', 'external_links', 'nonces']);
        const url = await buildHandOff(app, user);
        for (const _ of [1, 2]) {
          const answer = await openHandOff(app, url);
          expect(answer.status, `${email} in ${mode}`).toBe(isRefused ? 400 : 303);
          if (!isRefused) break;
          expect(codeOf(answer)).toBe('malformed_payload');
        }
        if (isRefused)
          expect(await digestRows(app.db, ['users', 'accounts', 'external_links', 'nonces'])).toBe(before);
      }
  });

  it('is left out of a hand-off for somebody known, who comes in', async () => {
    for (const app of [local, live])
      for (const [isHeld, emailVerified] of [
        [true, true],
        [false, false],
        [false, true],
      ]) {
        const id = `known-${++serial}`;
        const email = `${id}@example.com`;
        expect((await handOver(app, { id, email, emailVerified: isHeld })).status).toBe(303);
        const profileUpdatedAt = new Date('2026-01-02T00:00:00.000Z');
        const newer = { id, name: 'Newer', email: fresh('a@127.0.0.1'), emailVerified, profileUpdatedAt };
        expect((await handOver(app, newer)).status).toBe(303);
        const { rows } = await sql`select name, holds_email as "isHeld" from users
          where email = ${email}`.execute(app.db);
        expect(rows).toEqual([{ name: 'Newer', isHeld }]);
        const told = await sql`select reason from audit_events
          where type = 'hand_off.email_skipped' and details->>'id' = ${id}`.execute(app.db);
        expect(told.rows).toEqual([{ reason: 'email_refused' }]);
      }
  });

  it('is refused by an import, and a dry run says so', async () => {
    const lineOf = (id: string, email: string) =>
      JSON.stringify({
        ...{ id, email, name: 'Nia', role: 'customer', account: { capabilities: [] } },
        profile_updated_at: `2026-01-0${id === 'line-known' ? 1 : 2}T00:00:00Z`,
      });
    const said: LineResult[][] = [];
    for (const run of [importProfiles, dryRunImport, importProfiles]) {
      const results: LineResult[] = [];
      const lines = said.length
        ? [
            lineOf('line-new', 'a@127.0.0.1'),
            lineOf('line-local', 'line@new.test'),
            lineOf('line-moved', 'a@b'),
          ]
        : [lineOf('line-moved', 'line@example.com').replace('01-02', '01-01')];
      await run(
        live.db,
        (async function* () {
          for (const line of lines) yield new TextEncoder().encode(line);
        })(),
        {
          config: live.config,
          now: () => new Date(),
          name: 'lines.ndjson',
          isStopped: () => false,
          onBatch: async (batch) => void results.push(...batch),
        },
      );
      said.push(results);
    }
    const expected = [
      { line: 1, id: 'line-new', kind: 'refused', reason: 'malformed: email' },
      { line: 2, id: 'line-local', kind: 'refused', reason: 'malformed: email' },
      { line: 3, id: 'line-moved', kind: 'updated', changed: {}, kept: { email: 'email_refused' } },
    ];
    expect(said.slice(1)).toEqual([expected, expected]);
  });
});

describe('a person who already has such an address', () => {
  it('logs in, and gets the mail to set a password', async () => {
    const email = await giveOld(live, 'customer@example.test');
    expect((await live.send('/login', { form: { email, password }, from: from() })).status).toBe(303);
    expect((await live.send('/forgot-password', { form: { email }, from: from() })).status).toBe(303);
    await expect
      .poll(
        async () =>
          (
            await sql`select 1 from mails where recipient = ${email} and kind = 'set_password'`.execute(
              live.db,
            )
          ).rows.length,
      )
      .toBe(1);
  });

  it('gets contracts, and their changes', async () => {
    const email = await giveOld(live, 'merchant@example.test');
    const signup = buildSignup(`crm_${++serial}`, { user: { email, name: 'Old' } });
    await pushSignup(live, signup);
    const occurred_at = new Date().toISOString();
    const contract = { ...signup.contract, status: 'active' };
    const changed = await sendSignup(live, { ...signup, occurred_at, contract });
    expect([changed.status, JSON.parse(changed.text).contract.status]).toEqual([200, 'active']);
  });

  it('comes in by a hand-off, known or not, and is found as its holder', async () => {
    for (const app of [local, live]) {
      const id = `old-${++serial}`;
      expect((await handOver(app, { id, email: `${id}@example.com` })).status).toBe(303);
      const email = await giveOld(app, `${id}@example.com`);
      const profileUpdatedAt = new Date('2026-01-02T00:00:00.000Z');
      expect((await handOver(app, { id, email, profileUpdatedAt })).status).toBe(303);
      await sql`delete from external_links where external_id = ${id}`.execute(app.db);
      expect((await handOver(app, { id, email })).status).toBe(303);
      const { rows } = await sql`select 1 from users where email = ${email}`.execute(app.db);
      expect(rows).toHaveLength(1);
    }
  });
});
