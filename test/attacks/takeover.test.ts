// Attacks from outside on somebody else's account and what belongs to it. Each succeeded in an earlier version.
import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { runBilling } from '../../server/billing/invoices/invoicing.ts';
import { sweep } from '../../server/doors/jobs/sweep.ts';
import { type Answer, codeOf, locationOf, openApp } from '../support/app/app.ts';
import { openBackend } from '../support/app/backend.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { setSettings } from '../support/billing/settings.ts';
import { buildSignup, pushSignup, sendSignup } from '../support/crm/crm.ts';
import { countRows } from '../support/database/database.ts';
import { buildHandOff, type HandOff } from '../support/marketplace/marketplace.ts';
import { readMails, readToken } from '../support/people/kept-mail.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const other = shared(() => openBackend({ databaseUrl: app.databaseUrl }));

/** Opens a hand-off and agrees to everything that pages ask, as an attacker does in their own browser. */
async function comeIn(browser: Browser, user: HandOff): Promise<Answer> {
  const answer = await browser.send(await buildHandOff(app, user));
  if (answer.status !== 303 || locationOf(answer).pathname !== '/continue') return answer;
  return browser.send(answer.headers.get('location') ?? '', { form: {} });
}

const setPassword = (browser: Browser, token: string, newPassword: string) =>
  browser.send(`/set-password?token=${token}`, { form: { newPassword } });

describe('a link that an attacker plants in the browser of a victim', () => {
  it.each([false, true])(
    'gives the attacker nothing when the victim logs in (verified: %s)',
    async (emailVerified) => {
      const victim = openBrowser(app.send);
      const planted = { id: `planted-${emailVerified}`, email: 'merchant@example.test', emailVerified };
      await victim.send(await buildHandOff(app, planted));
      await victim.login('merchant@example.test');
      const attacker = openBrowser(app.send);
      await comeIn(attacker, planted);
      const { text } = await attacker.send('/sso/profile');
      expect(JSON.parse(text).id).not.toBe(await victim.whoseId());
    },
  );

  it('logs nobody in, wherever it leads on to', async () => {
    const victim = openBrowser(app.send);
    const url = await buildHandOff(app, { id: 'csrf', returnTo: '/sso/launch/marketplace?return_to=/pay' });
    const answer = await victim.send(url);
    expect(await victim.whoAmI()).toBeUndefined();
    // The page asks the victim, and names the account.
    expect(textOf(await victim.send(answer.headers.get('location') ?? ''))).toContain('csrf@example.test');
    expect(answer.headers.get('location')).not.toContain('launch');
  });

  it('does not replace the login of somebody who is logged in', async () => {
    const victim = await logIn(app.send, 'customer@example.test');
    await victim.send(await buildHandOff(app, { id: 'swap' }));
    expect(await victim.whoAmI()).toBe('customer@example.test');
  });
});

describe('somebody who types another person’s address at the marketplace', () => {
  it('is left with nothing once its owner proves it', async () => {
    const typed = { id: 'squatter', email: 'owner@example.test', emailVerified: false };
    const attacker = openBrowser(app.send);
    await comeIn(attacker, typed);
    const attackersId = await attacker.whoseId();
    await attacker.send('/verify-email', { form: {} });
    const owner = openBrowser(app.send);
    const token = await readToken(other, typed.email, 'set_password');
    expect((await setPassword(owner, token, 'a quite long owner password')).status).toBe(303);
    expect(await owner.whoAmI()).toBe(typed.email);

    expect(await attacker.whoAmI()).toBeUndefined();
    for (const emailVerified of [false, true]) {
      const answer = await comeIn(attacker, { ...typed, emailVerified });
      expect(locationOf(answer).pathname).toBe('/continue');
      expect(await attacker.whoAmI()).toBeUndefined();
    }
    // The password that the attacker set does not work.
    expect(attackersId).toBeDefined();
    expect((await attacker.login(typed.email, 'local demo password')).status).toBe(401);
  });

  it('neither gets the contract that the CRM makes for it, nor stands in the way of its owner', async () => {
    const typed = { id: 'squatter-2', email: 'crm-owner@example.test', emailVerified: false };
    const attacker = openBrowser(app.send);
    await comeIn(attacker, typed);
    const user = { email: typed.email, name: 'Owner' };
    const signup = buildSignup('crm_squatted', { user });
    const answer = await sendSignup(app, signup);
    expect([answer.status, JSON.parse(answer.text).user.created]).toEqual([201, true]);
    expect(textOf(await attacker.send('/profile/billing'))).not.toContain('Service contracts');
    // The owner gets a mail, and then logs in by a hand-off from the marketplace.
    expect((await readMails(other, typed.email))[0]?.subject).toBe(
      'Set a password for your new account – Identity',
    );
    const owner = openBrowser(app.send);
    expect((await comeIn(owner, { ...typed, id: 'owner-id', emailVerified: true })).status).toBe(303);
    expect(textOf(await owner.send('/profile/billing'))).toContain('Service contracts');
  });

  it('sees no contract or invoice before the address is proved, even as the one who holds it', async () => {
    const email = 'unverified@example.test';
    const contract = {
      plan: 'pro',
      status: 'active',
      price: { currency: 'EUR', unit_amount: 100, interval: 'month' },
    };
    await pushSignup(app, buildSignup('crm_unproved', { user: { email, name: 'Uma' }, contract }));
    const cookie = await app.login(email);
    const client = openClient(app.send, cookie);
    await setSettings(app.db);
    await runBilling(other.backend.deps);
    const { rows } = await sql<{ number: string }>`select max(document) as number from invoices`.execute(
      app.db,
    );
    const number = rows[0]?.number ?? '';
    expect([await client.contracts.list.query(), await client.invoices.list.query()]).toEqual([[], []]);
    expect(await refusalOf(client.invoices.get.query({ number }))).toMatchObject({ problem: 'not_found' });
    await sql`update users set email_verified_at = now() where email = ${email}`.execute(app.db);
    expect(await client.contracts.list.query()).toHaveLength(1);
    expect(await client.invoices.list.query()).toMatchObject([{ number }]);
  });

  it('cannot tell who has an account here, and of what kind', async () => {
    const looks = [];
    await app.db
      .updateTable('users')
      .set({ password_hash: null })
      .where('email', '=', 'new-merchant@example.test')
      .execute();
    for (const name of ['admin', 'manager', 'suspended', 'merchant', 'new-merchant', 'nobody-at-all']) {
      const browser = openBrowser(app.send);
      const url = await buildHandOff(app, {
        id: `probe-${name}`,
        email: `${name}@example.test`,
        name: 'Probe',
        emailVerified: false,
      });
      const answer = await browser.send(url);
      const page = await browser.send(answer.headers.get('location') ?? '');
      const clicked = await browser.send(answer.headers.get('location') ?? '', { form: {} });
      const hide = (text: string) =>
        text
          .replaceAll(`${name}@`, 'x@')
          .replace(`probe-${name}`, 'probe')
          // The menu shows the first letter of the email address, so this removes the letter.
          .replace(/Your account \w /, '')
          .replace(/id=[\w-]+/g, '');
      looks.push([
        answer.status,
        hide(answer.headers.get('location') ?? ''),
        hide(textOf(page)),
        clicked.status,
        clicked.headers.get('location'),
        ...(await Promise.all(
          ['', '/security', '/products', '/billing'].map(async (page) =>
            hide(textOf(await browser.send(`/profile${page}`))).replace(/\d\d?:\d\d/g, ''),
          ),
        )),
      ]);
    }
    for (const look of looks) expect(look).toEqual(looks[0]);
  });

  it('puts no text into the mails that we send there', async () => {
    const lure = 'Your account is blocked. Unlock at https://evil.example';
    const typed = {
      id: 'lure',
      email: 'lured@example.test',
      emailVerified: false,
      name: lure,
      accountName: lure,
    };
    const attacker = openBrowser(app.send);
    await comeIn(attacker, typed);
    const next = `/sso/launch/marketplace?return_to=${encodeURIComponent('/evil.example')}`;
    await attacker.send(`/verify-email?next=${encodeURIComponent(next)}`, {
      form: {},
      headers: { 'user-agent': `${lure} Mozilla/5.0` },
    });
    await pushSignup(
      app,
      buildSignup('crm_lured', { user: { email: typed.email, name: lure }, account: { name: lure } }),
    );
    for (const { subject, text } of await readMails(other, typed.email, 2))
      expect(subject + text).not.toMatch(/evil|blocked|Unlock/);
  });
});

describe('prompt=login', () => {
  it.each(['prompt=login', 'max_age=0'])(
    'cannot be got round by opening where its redirect (%s) leads on to (contract 4.12)',
    async (query) => {
      const browser = await logIn(app.send, 'customer@example.test');
      await sql`update sessions set auth_time = now() - interval '1 hour'`.execute(app.db);
      const asked = await browser.send(`/sso/launch/marketplace?state=s&${query}`);
      expect(locationOf(asked).pathname).toBe('/login');
      const next = locationOf(asked).searchParams.get('next') ?? '';
      const dodged = await browser.send(next);
      expect([locationOf(dodged).pathname, locationOf(dodged).searchParams.has('payload')]).toEqual([
        '/login',
        false,
      ]);
      // A launch with `prompt=none` gives no payload.
      const silent = await browser.send(`${next}&prompt=none`);
      expect(locationOf(silent).searchParams.get('error')).toBe('login_required');
      await browser.login('customer@example.test');
      expect(locationOf(await browser.send(next)).searchParams.has('payload')).toBe(true);
    },
  );
});

// Contract 6.10 and 9.101.
it('an unsigned hand-off leaves no row, however often it is sent', async () => {
  const before = await countRows(app.db, 'audit_events');
  const unsigned = `/sso/marketplace/callback?payload=${'A'.repeat(100)}&signature=${'0'.repeat(64)}`;
  const replayed = await buildHandOff(app, { id: 'replayed' });
  const refused = await buildHandOff(app, { id: 'refused', email: 'admin@example.test' });
  await app.send(replayed);
  for (let time = 0; time < 30; time++)
    for (const url of [unsigned, replayed, refused, '/sso/marketplace/callback']) await app.send(url);
  // One event is about the accepted hand-off, and one about the hand-off that was refused because of its person.
  expect(await countRows(app.db, 'audit_events')).toBe(before + 2);
  expect(codeOf(await app.send(refused))).toBe('admin_not_allowed');
});

it('an instance whose clock is fast does not let a hand-off be used again (contract 9.109)', async () => {
  const url = await buildHandOff(app, { id: 'skewed' });
  expect((await app.send(url)).status).toBe(303);
  const fast = await openBackend({
    databaseUrl: app.databaseUrl,
    now: () => new Date(Date.now() + 400_000),
  });
  await sweep(fast.backend.deps);
  await fast.close();
  expect(codeOf(await app.send(url))).toBe('nonce_replayed');
});
