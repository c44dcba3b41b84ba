// The pages behind the links in mails, as a browser without script uses them.
import { sql } from 'kysely';
import { describe, expect, it, vi } from 'vitest';
import { locationOf, openApp, targetOf } from '../support/app/app.ts';
import { cookieOf, isLoggedIn, textOf } from '../support/app/visitor.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const newPassword = 'seven quiet lanterns';
const now = new Date('2036-06-01T12:00:00.000Z');
const app = shared(() => openApp({ now: () => now }));

/** Returns the path and query of the link in the newest mail to that email address. */
async function findLink(email: string, count = 1): Promise<string> {
  return vi.waitFor(async () => {
    const { rows } = await sql<{ text: string }>`
      select kept_text as text from mails where recipient = ${email} and kept_text is not null
      order by created_at desc, id desc`.execute(app.db);
    expect(rows).toHaveLength(count);
    const link = new URL(/^http\S+$/m.exec(rows[0]?.text ?? '')?.[0] ?? '');
    expect(link.origin).toBe(app.config.baseUrl);
    return link.pathname + link.search;
  }, 15_000);
}

let serial = 0;
async function welcomeCustomer(): Promise<{ email: string; link: string }> {
  const signup = buildSignup(`mail-${serial++}`, {}, now);
  await pushSignup(app, signup, { at: now });
  return { email: signup.user.email, link: await findLink(signup.user.email) };
}

const verifiedAt = async (email: string) =>
  (
    await app.db
      .selectFrom('users')
      .select('email_verified_at')
      .where('email', '=', email)
      .executeTakeFirstOrThrow()
  ).email_verified_at;

describe('/set-password', () => {
  // Contract 9.116.
  it('changes nothing when it is opened, however often and by whom', async () => {
    const { email, link } = await welcomeCustomer();
    for (const headers of [{}, { 'user-agent': 'Scanner' }, { 'sec-purpose': 'prefetch' }]) {
      for (const method of ['GET', 'HEAD']) {
        expect((await app.send(link, { method, headers: headers as Record<string, string> })).status).toBe(
          200,
        );
      }
    }
    const page = await app.send(link);
    expect(textOf(page)).toContain(`Set your password For ${email}`);
    expect(page.headers.get('referrer-policy')).toBe('no-referrer');
    expect(page.headers.get('cache-control')).toBe('no-store');
    // All scripts are our own files, because nothing else may see the URL of this page.
    const scripts = page.text.match(/<script[^>]*>[^<]*/g) ?? [];
    expect(scripts.filter((script) => !/^<script type="module" src="\/assets\/[^>]*>$/.test(script))).toEqual(
      [],
    );
    expect(await verifiedAt(email)).toBeNull();
    expect((await app.send(link, { form: { newPassword } })).status).toBe(303);
  });

  it('sets a password once, logs the user in, and verifies the address', async () => {
    const { email, link } = await welcomeCustomer();
    const answers = await Promise.all(
      Array.from({ length: 16 }, () => app.send(link, { form: { newPassword } })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([303, ...Array(15).fill(404)]);
    const set = answers.find(({ status }) => status === 303) ?? answers[0];
    if (!set) throw new Error('unreachable');
    expect(locationOf(set).pathname + locationOf(set).search).toBe('/profile?saved=password-set');
    const cookie = cookieOf(set);
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
    expect(await verifiedAt(email)).toEqual(now);
    const launched = await app.send('/sso/launch/marketplace', { cookie });
    expect(locationOf(launched).searchParams.has('payload')).toBe(true);
    await app.login(email, newPassword);
    const dead = await app.send(link);
    expect(dead.status).toBe(404);
    expect(textOf(dead)).toContain('You have already used this link');
    expect(dead.text).toContain('href="/login"');
  });

  it('explains why it refuses a weak password, and the link still works', async () => {
    const { email, link } = await welcomeCustomer();
    for (const weak of ['', 'short', 'password1234', 'x'.repeat(129)]) {
      const refused = await app.send(link, { form: { newPassword: weak } });
      expect(refused.status).toBe(422);
      expect(refused.text).toContain('aria-invalid="true"');
      expect(refused.headers.get('referrer-policy')).toBe('no-referrer');
    }
    expect(await verifiedAt(email)).toBeNull();
    expect((await app.send(link, { form: { newPassword } })).status).toBe(303);
  });

  it('accepts no form from another site', async () => {
    const { link } = await welcomeCustomer();
    const headers = { origin: 'https://evil.example' };
    expect((await app.send(link, { form: { newPassword }, headers })).status).toBe(403);
    expect((await app.send(link)).status).toBe(200);
  });

  it.each(['', '?token=', '?token=x', `?token=${'A'.repeat(43)}`, '?token=%00'])(
    'shows a dead link for the query %j',
    async (query) => {
      expect((await app.send(`/set-password${query}`)).status).toBe(404);
      expect((await app.send(`/set-password${query}`, { form: { newPassword } })).status).toBe(404);
    },
  );

  it('refuses a suspended user, who stays suspended', async () => {
    const { email, link } = await welcomeCustomer();
    await sql`update users set suspended_at = now() where email = ${email}`.execute(app.db);
    const refused = await app.send(link, { form: { newPassword } });
    expect([refused.status, JSON.parse(refused.text).code]).toEqual([403, 'account_suspended']);
    expect(refused.headers.get('set-cookie')).toBeNull();
  });
});

describe('/forgot-password', () => {
  it('mails a link that ends every session and goes on to where the login was heading', async () => {
    const cookie = await app.login('merchant@example.test');
    const asked = await app.send('/forgot-password?next=/sso/launch/crm_app', {
      form: { email: 'MERCHANT@example.test' },
    });
    const sent = '/forgot-password?sent&next=%2Fsso%2Flaunch%2Fcrm_app';
    expect([asked.status, asked.headers.get('location')]).toEqual([303, sent]);
    expect((await app.send(sent)).text).toContain('href="/login?next=%2Fsso%2Flaunch%2Fcrm_app"');
    const link = await findLink('merchant@example.test');
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
    const set = await app.send(link, { form: { newPassword } });
    expect([set.status, set.headers.get('location')]).toEqual([303, '/go?next=%2Fsso%2Flaunch%2Fcrm_app']);
    expect(await isLoggedIn(app.send, cookie)).toBe(false);
    const old = { email: 'merchant@example.test', password: 'local demo password' };
    expect((await app.send('/login', { form: old })).status).toBe(401);
  });

  it('stores the mail before it promises it, and answers no faster for an unknown address', async () => {
    const count = async () =>
      (await sql`select from mails where recipient = 'merchant@example.test'`.execute(app.db)).rows.length;
    const before = await count();
    const startedAt = performance.now();
    await app.send('/forgot-password', { form: { email: 'merchant@example.test' } });
    expect(performance.now() - startedAt).toBeGreaterThan(290);
    expect(await count()).toBe(before + 1);
    const askedAt = performance.now();
    await app.send('/forgot-password', { form: { email: 'nobody@example.test' } });
    expect(performance.now() - askedAt).toBeGreaterThan(290);
  });

  it('gives an unknown and a suspended user the same answer, and mails them nothing', async () => {
    const ask = (email: string) => app.send('/forgot-password', { form: { email } });
    const answers = [await ask('customer@example.test'), await ask('nobody@example.test')];
    answers.push(await ask('suspended@example.test'));
    const [known] = answers.map(({ status, headers, text }) => ({
      status,
      text,
      to: headers.get('location'),
    }));
    for (const { status, headers, text } of answers)
      expect({ status, text, to: headers.get('location') }).toEqual(known);
    const { rows } = await sql<{ recipient: string }>`select recipient from mails
      where recipient in ('nobody@example.test', 'suspended@example.test')`.execute(app.db);
    expect(rows).toEqual([]);
  });

  it('refuses an invalid address, at its field', async () => {
    const refused = await app.send('/forgot-password', { form: { email: 'nobody' } });
    expect(refused.status).toBe(422);
    expect(textOf(refused)).toContain('Enter an email address in the correct format');
  });

  it('is limited for each e-mail address, known or not', async () => {
    for (const email of ['manager@example.test', 'no-manager@example.test']) {
      const ask = () => app.send('/forgot-password', { form: { email } });
      const answers = await Promise.all(Array.from({ length: 16 }, ask));
      expect(answers.map(({ status }) => status).sort()).toEqual([
        // The sixth mail is the extra one of contract 9.122.
        ...Array(6).fill(303),
        ...Array(10).fill(429),
      ]);
      const limited = answers.find(({ status }) => status === 429);
      expect(Number(limited?.headers.get('retry-after'))).toBeGreaterThan(0);
    }
  });

  it('never leads to another site', async () => {
    const asked = await app.send('/forgot-password?next=https://evil.example/', {
      form: { email: 'admin@example.test' },
    });
    expect(asked.headers.get('location')).toBe('/forgot-password?sent');
    const link = await findLink('admin@example.test');
    expect(link).not.toContain('evil');
    const set = await app.send(`${link}&next=//evil.example`, { form: { newPassword } });
    expect(set.headers.get('location')).toBe('/profile?saved=password-set');
  });
});

describe('/verify-email', () => {
  it('mails a link that verifies the address and goes on with the launch', async () => {
    const cookie = await app.login('unverified@example.test');
    const launch = '/sso/launch/marketplace?state=s1';
    const met = await app.send(launch, { cookie });
    const here = `${locationOf(met).pathname}${locationOf(met).search}`;
    expect(here).toBe(`/verify-email?next=${encodeURIComponent(launch)}`);
    const asked = await app.send(here, { method: 'POST', form: {}, cookie });
    expect(asked.status).toBe(303);
    expect(textOf(await app.send(asked.headers.get('location') ?? '', { cookie }))).toContain(
      'We have sent a link to',
    );
    const link = await findLink('unverified@example.test');

    // Opening the link, or posting it as somebody else, changes nothing (contract 2.10).
    expect((await app.send(link)).headers.get('location')).toBe(
      `/login?next=${encodeURIComponent(link)}&why=other-browser`,
    );
    expect((await app.send(link, { cookie })).status).toBe(200);
    const other = await app.login('new-merchant@example.test');
    await app.send(link, { form: {}, cookie: other });
    expect((await app.send(link, { form: {} })).status).toBe(303);
    expect(await verifiedAt('unverified@example.test')).toBeNull();

    // Visitors who use the link later find the email address verified, and go on, too.
    const answers = await Promise.all(Array.from({ length: 16 }, () => app.send(link, { form: {}, cookie })));
    for (const answer of answers) expect(launch).toBe(`${targetOf(answer).pathname}?state=s1`);
    const { rows } = await sql`select 1 from audit_events where type = 'email.verified'`.execute(app.db);
    expect(rows).toHaveLength(1);
    expect(await verifiedAt('unverified@example.test')).toEqual(now);
    expect(locationOf(await app.send(launch, { cookie })).searchParams.has('payload')).toBe(true);
  });
});

describe('/dev/mail', () => {
  it('shows the kept mails, which contain no name that somebody typed', async () => {
    const signup = buildSignup('shown', {}, now);
    await pushSignup(app, { ...signup, user: { ...signup.user, name: '<b>Bold</b>' } }, { at: now });
    await findLink('shown@example.test');
    const page = await app.send('/dev/mail');
    expect(page.text).toContain('shown@example.test');
    expect(page.text).not.toContain('Bold');
  });
});
