// Attacks that were found by reading the contract and trying the service. Each succeeded in an earlier version.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { sendDueMails } from '../../server/mail/outbox.ts';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, logIn, openBrowser } from '../support/app/visitor.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { buildHandOff, type HandOff } from '../support/marketplace/marketplace.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));

const strong = 'a quite long owner password';
const pageOf = (answer: Answer | undefined) => answer?.headers.get('location') ?? '';

async function comeIn(browser: Browser, user: HandOff): Promise<Answer> {
  const answer = await browser.send(await buildHandOff(app, user));
  if (answer.status !== 303 || locationOf(answer).pathname !== '/continue') return answer;
  return browser.send(pageOf(answer), { form: {} });
}

const setPassword = (browser: Browser, token: string, newPassword = strong) =>
  browser.send(`/set-password?token=${token}`, { form: { newPassword } });

/** Adds a user with a password and a marketplace link that can log them in. */
async function addLinkedOwner(user: HandOff): Promise<Browser> {
  const owner = openBrowser(app.send);
  await comeIn(owner, user);
  await owner.send('/forgot-password', { form: { email: `${user.id}@example.test` } });
  await setPassword(owner, await readToken(other, `${user.id}@example.test`, 'set_password'));
  await comeIn(owner, user);
  return owner;
}

describe('a login by hand-off', () => {
  it('gives no allowance for guesses at the password, in one browser or in many', async () => {
    await addLinkedOwner({ id: 'guessed' });
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) {
      const browser = openBrowser(app.send);
      for (const again of [1, 2]) {
        browser.jar.delete('identity_session');
        await comeIn(browser, { id: 'guessed' });
        for (let n = 0; n < 6; n++)
          statuses.push((await browser.login('guessed@example.test', `wrong ${round} ${again} ${n}`)).status);
      }
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  });

  it('gives no allowance for emails', async () => {
    await addLinkedOwner({ id: 'bombed' });
    const statuses: number[] = [];
    for (let round = 0; round < 3; round++) {
      const browser = openBrowser(app.send);
      await comeIn(browser, { id: 'bombed' });
      for (let n = 0; n < 5; n++)
        statuses.push(
          (await browser.send('/forgot-password', { form: { email: 'bombed@example.test' } })).status,
        );
    }
    expect(statuses.filter((status) => status === 303).length).toBeLessThanOrEqual(5);
  });

  it('ends with the link that it came by', async () => {
    const owner = await addLinkedOwner({ id: 'unlinked' });
    const thief = openBrowser(app.send);
    await comeIn(thief, { id: 'unlinked' });
    expect(await thief.whoAmI()).toBe('unlinked@example.test');
    const link = { provider: 'marketplace', externalId: 'unlinked' };
    await owner.send('/profile/security', {
      form: { intent: 'remove-link', ...link, currentPassword: strong },
    });
    expect([await thief.whoAmI(), await owner.whoAmI()]).toEqual([undefined, 'unlinked@example.test']);
  });
});

it('an older Connect that is clicked later brings nothing old back', async () => {
  const base = { id: 'older', email: 'customer@example.test' };
  const browser = await logIn(app.send, base.email);
  const at = (month: number) => new Date(Date.UTC(2026, month));
  const old = { ...base, capabilities: ['sell_services'], profileUpdatedAt: at(0) };
  const [first, second] = [
    await browser.send(await buildHandOff(app, old)),
    await browser.send(await buildHandOff(app, { ...base, profileUpdatedAt: at(1) })),
  ];
  for (const answer of [second, first])
    expect((await browser.send(pageOf(answer), { form: {} })).status).toBe(303);
  expect(JSON.parse((await browser.send('/sso/profile')).text).account.capabilities).toEqual([]);
  const { rows } = await sql`select applied_profile_updated_at as at from external_links
    where external_id = 'older'`.execute(app.db);
  expect(rows).toEqual([{ at: at(1) }]);
});

describe('an email to set a password', () => {
  it('has no text in its link from the person who asked for it', async () => {
    const stranger = openBrowser(app.send);
    for (const next of [
      '/Your-account-is-blocked.Unlock-at-evil.example',
      '/sso/launch/marketplace?return_to=/blocked-evil&state=evil',
      '/sso/launch/evil',
      '/continue?id=evil',
    ]) {
      const email = 'merchant@example.test';
      await stranger.send(`/forgot-password?next=${encodeURIComponent(next)}`, { form: { email } });
    }
    const mails = await readMails(other, 'merchant@example.test', 4);
    for (const { text } of mails) expect(text).not.toMatch(/evil|blocked/);
    expect(
      mails.filter(({ text }) => text.includes(encodeURIComponent('/sso/launch/marketplace'))),
    ).toHaveLength(1);
  });

  it('is not used up for its owner by one stranger (contract 9.121)', async () => {
    const email = 'new-merchant@example.test';
    const stranger = openBrowser(app.send);
    const expireHour = () =>
      sql`update rate_limits set expire = 1 where key like 'mail-account:%'`.execute(app.db);
    for (let hour = 0; hour < 3; hour++) {
      for (let n = 0; n < 5; n++) await stranger.send('/forgot-password', { form: { email } });
      await expireHour();
    }
    const owner = await app.send('/forgot-password', { form: { email }, from: '203.0.113.9' });
    expect(owner.status).toBe(303);
  });

  it('that still waits to be sent leads nowhere once a password is set', async () => {
    const email = 'unverified@example.test';
    await app.send('/forgot-password', { form: { email } });
    const token = await readToken(other, email, 'set_password');
    await sql`insert into mails (id, kind, user_id, recipient, created_at, next_attempt_at)
      select gen_random_uuid(), 'set_password', id, email, now(), now() + interval '1 hour' from users
      where email = ${email}`.execute(app.db);
    await setPassword(openBrowser(app.send), token);
    await sql`update mails set next_attempt_at = now() where recipient = ${email}`.execute(app.db);
    await sendDueMails(other.backend.deps, undefined, new AbortController().signal);
    expect(await readMails(other, email)).toHaveLength(1);
  });
});

it('a hand-off with a capability that no JSON column takes is accepted without it', async () => {
  for (const [at, capability] of ['fly', '\u0000', '\ud800'].entries())
    expect(
      (await app.send(await buildHandOff(app, { id: `cap-${at}`, capabilities: [capability] }))).status,
    ).toBe(303);
});

it('an address whose small letters compose is refused', async () => {
  const answer = await app.send(await buildHandOff(app, { id: 'jcaron', email: 'J\u030cane@example.test' }));
  expect([answer.status, JSON.parse(answer.text).code]).toEqual([400, 'malformed_payload']);
});

describe('at one moment', () => {
  it('16 clicks of a typed user and the password of the owner deadlock nothing, and leave only the owner', async () => {
    const countDeadlocks = async () => {
      await sql`select pg_stat_clear_snapshot()`.execute(app.db);
      const { rows } = await sql<{ deadlocks: string }>`
        select deadlocks from pg_stat_database where datname = current_database()`.execute(app.db);
      return Number(rows[0]?.deadlocks);
    };
    const before = await countDeadlocks();
    for (let round = 0; round < 4; round++) {
      const typed = { id: `typed-${round}`, email: `typed-${round}@example.test`, emailVerified: false };
      const first = openBrowser(app.send);
      await comeIn(first, typed);
      await first.send('/verify-email', { form: {} });
      const token = await readToken(other, typed.email, 'set_password');
      const attackers = Array.from({ length: 16 }, () => openBrowser(app.send));
      const pages = await Promise.all(
        attackers.map(async (each) => each.send(await buildHandOff(app, typed))),
      );
      const owner = openBrowser(app.send);
      const [set] = await Promise.all([
        setPassword(owner, token),
        ...attackers.map(async (each, at) => {
          await new Promise((done) => setTimeout(done, 5 + at * 3 + round * 2));
          return each.send(pageOf(pages[at]), { form: {} });
        }),
      ]);
      expect(set.status).toBe(303);
      for (const each of [...attackers, first]) expect(await each.whoAmI()).toBeUndefined();
      expect(await owner.whoAmI()).toBe(typed.email);
    }
    expect(await countDeadlocks()).toBe(before);
  });

  it('a typed user at work while their link moves to its owner gets no fault of ours', async () => {
    const statuses: number[] = [];
    for (let round = 0; round < 10; round++) {
      const [id, email] = [`moved-${round}`, `moved-${round}@example.test`];
      await pushSignup(app, buildSignup(`crm_moved_${round}`, { user: { email, name: 'Owner' } }));
      const typed = openBrowser(app.send);
      await comeIn(typed, { id, email, emailVerified: false });
      const answers = await Promise.all([
        openBrowser(app.send).send(await buildHandOff(app, { id, email })),
        typed.send('/verify-email', { form: {} }),
        typed.send('/profile', { form: { intent: 'names', name: `n${round}` } }),
        typed.send('/trpc/sessions.endOthers', { json: { json: {} } }),
        typed.send(await buildHandOff(app, { id, email, emailVerified: false })),
      ]);
      statuses.push(...answers.map(({ status }) => status));
    }
    expect(statuses.filter((status) => status >= 500)).toEqual([]);
  });

  it('a link from an email, a verified hand-off and a signup leave one holder', async () => {
    for (let round = 0; round < 8; round++) {
      const [id, email] = [`three-${round}`, `three-${round}@example.test`];
      const first = openBrowser(app.send);
      await comeIn(first, { id, email, emailVerified: false });
      await first.send('/verify-email', { form: {}, from: `198.51.100.${round}` });
      const token = await readToken(other, email, 'set_password');
      const soon = () => new Promise((done) => setTimeout(done, 20 + round));
      const answers = await Promise.all([
        setPassword(openBrowser(app.send), token),
        soon().then(() =>
          sendSignup(app, buildSignup(`crm_three_${round}`, { user: { email, name: 'Owner' } })),
        ),
        soon().then(async () =>
          app.send(await buildHandOff(app, { id: round % 2 ? id : `else-${round}`, email })),
        ),
        soon().then(() => first.send('/profile', { form: { intent: 'names', name: 'Typed' } })),
      ]);
      for (const { status } of answers) expect(status).toBeLessThan(500);
      const { rows } = await sql`select 1 from users where email = ${email} and holds_email`.execute(app.db);
      expect(rows).toHaveLength(1);
    }
  });
});

describe('somebody with a session', () => {
  it.each([
    ['an array of any length', { length: 5e7 }, { values: { name: [['typed-array', 'Float64Array']] } }],
    ['another type', '1', { values: { name: ['bigint'] } }],
    ['a reference', 'x', { referentialEqualities: { name: ['accountName'] } }],
  ])('cannot have us make %s of their input', async (_, name, meta) => {
    const cookie = await app.login('customer@example.test');
    const answer = await app.send('/trpc/profile.update', { cookie, json: { json: { name }, meta } });
    expect(answer.status).toBe(400);
  });

  it('ends no other session without the password, one by one either', async () => {
    const email = 'manager@example.test';
    const [owner, thief] = [openBrowser(app.send), openBrowser(app.send)];
    for (const browser of [owner, thief]) await browser.login(email);
    await sql`update sessions set auth_time = now() - interval '1 hour'`.execute(app.db);
    const client = openClient(app.send, thief.cookie());
    for (const { id, current } of await client.sessions.list.query()) {
      if (current) continue;
      expect(await refusalOf(client.sessions.end.mutate({ id }))).toMatchObject({
        problem: 'validation_failed',
      });
      const currentPassword = 'local demo password';
      if (id) await client.sessions.end.mutate({ id, currentPassword });
    }
    expect(await owner.whoAmI()).toBeUndefined();
  });

  it('guesses no more than ten in a browser, however often they log in between', async () => {
    const browser = openBrowser(app.send);
    const statuses: number[] = [];
    for (let round = 0; round < 4; round++) {
      statuses.push((await browser.login('admin@example.test')).status);
      for (let n = 0; n < 4; n++) statuses.push((await browser.login('admin@example.test', 'wrong')).status);
    }
    expect(statuses.filter((status) => status === 401)).toHaveLength(10);
  });

  it('gets 422 or 404 for a link that nobody could have', async () => {
    const client = openClient(app.send, await app.login('customer@example.test'));
    const link = { provider: 'marketplace' as const, currentPassword: 'local demo password' };
    for (const externalId of ['\u0000', '', 'x'.repeat(129)])
      expect(await refusalOf(client.links.remove.mutate({ ...link, externalId }))).toMatchObject({
        problem: 'validation_failed',
      });
  });
});

it('a link that sets nobody’s password costs no hash', async () => {
  const typed = { id: 'taken', email: 'taken@example.test', emailVerified: false };
  const browser = openBrowser(app.send);
  await comeIn(browser, typed);
  await browser.send('/verify-email', { form: {}, from: '198.51.100.99' });
  const token = await readToken(other, typed.email, 'set_password');
  await pushSignup(app, buildSignup('crm_taken', { user: { email: typed.email, name: 'Owner' } }));
  await sql`update users set email_verified_at = now() where email = ${typed.email} and holds_email`.execute(
    app.db,
  );
  // The queue for hashing passwords has fewer than 110 places. These requests need no place in it, so none is refused for lack
  // of one.
  const answers = await Promise.all(
    Array.from({ length: 110 }, () => setPassword(openBrowser(app.send), token)),
  );
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([409]));
});
