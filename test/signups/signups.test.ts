import { sql } from 'kysely';
import { validate, version } from 'uuid';
import { describe, expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { openClient, refusalOf } from '../support/app/trpc.ts';
import { isLoggedIn } from '../support/app/visitor.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

type Row = Record<string, unknown>;

/** Reads everything about a user and their account, except mails. */
async function readCustomer(email: string): Promise<{ user: Row; account: Row; sessions: Row[] }> {
  const { rows } = await sql<{ user: Row; account: Row; sessions: Row[] }>`
    select to_jsonb(u) as user, to_jsonb(a) as account,
      (select coalesce(jsonb_agg(s order by s.created_at), '[]') from sessions s where s.user_id = u.id) as sessions
    from users u join accounts a on a.id = u.account_id where u.email = ${email}`.execute(app.db);
  if (!rows[0] || rows.length > 1) throw new Error(`${rows.length} users have ${email}`);
  return rows[0];
}

const countRows = async () => {
  const { rows } = await sql<Record<'users' | 'accounts' | 'mails' | 'contracts', number>>`
    select (select count(*)::int from users) as users, (select count(*)::int from accounts) as accounts,
      (select count(*)::int from mails) as mails, (select count(*)::int from service_contracts) as contracts`.execute(
    app.db,
  );
  return rows[0] ?? { users: 0, accounts: 0, mails: 0, contracts: 0 };
};

const readMails = async (recipient: string) =>
  (await sql<Row>`select * from mails where recipient = ${recipient} order by created_at`.execute(app.db))
    .rows;

describe('a signup of a new user (contract 1.8 and 7.27)', () => {
  it('is answered exactly as the contract says (contract 7.13)', async () => {
    const answer = await sendSignup(app, {
      signup_id: 'crm:new.1',
      occurred_at: '2026-01-01T00:00:00+01:00',
      user: { email: 'New.One@Example.Test', name: '  Zoë O’Neil ' },
      account: { name: ' Zoë’s Flowers ' },
      contract: { plan: 'starter', status: 'active', trial_ends_at: '2026-01-15T01:00:00+01:00' },
    });
    const { user, account } = await readCustomer('new.one@example.test');
    const { rows } = await sql<Row>`select * from service_contracts where signup_id = 'crm:new.1'`.execute(
      app.db,
    );
    expect(answer.status).toBe(201);
    expect(answer.text).toBe(
      `{"signup_id":"crm:new.1","applied":true,"user":{"id":"${user.id}","created":true},` +
        `"account":{"id":"${account.id}","created":true},"contract":{"id":"${rows[0]?.id}","status":"active",` +
        '"plan":"starter","trial_ends_at":"2026-01-15T00:00:00.000Z","cancels_at":null,"price":null,"charges":[],' +
        '"created":true}}',
    );
    expect(answer.headers.get('content-type')).toBe('application/json');
    expect(answer.headers.get('cache-control')).toBe('no-store');
    for (const absent of ['set-cookie', 'idempotent-replayed', 'location'])
      expect(answer.headers.get(absent)).toBeNull();
    expect(rows).toMatchObject([{ user_id: user.id, account_id: account.id }]);
    for (const id of [user.id, account.id, rows[0]?.id]) {
      expect(validate(id) && version(id as string)).toBe(7);
    }
  });

  it('is answered with null if there is no end of a trial', async () => {
    const { text } = await sendSignup(
      app,
      buildSignup('no_trial', { contract: { plan: 'pro', status: 'active' } }),
    );
    expect(text).toMatch(
      /"contract":{"id":"[^"]+","status":"active","plan":"pro","trial_ends_at":null,"cancels_at":null,"price":null,"charges":\[\],"created":true}}$/,
    );
  });

  it('creates a user without password, rights or verified address, and a named account', async () => {
    await sendSignup(app, buildSignup('bare'));
    const { user, account, sessions } = await readCustomer('bare@example.test');
    expect(user).toMatchObject({
      name: 'User bare',
      role: 'user',
      password_hash: null,
      email_verified_at: null,
      suspended_at: null,
    });
    expect(account).toMatchObject({ name: 'Account bare', capabilities: [], verified_at: null });
    expect(sessions).toEqual([]);
  });

  it.each(['', 'local demo password', 'null', 'undefined'])(
    'lets nobody log in with the password %j',
    async (password) => {
      const email = 'nobody@example.test';
      await sendSignup(app, buildSignup(`no_login_${password.length}`, { user: { email, name: 'Nobody' } }));
      const answer = await app.send('/login', { form: { email, password } });
      expect(answer.status).toBe(401);
      expect(answer.headers.get('set-cookie')).not.toContain('identity_session');
    },
  );

  it('sends one mail, with a link that sets the password', async () => {
    await sendSignup(app, buildSignup('welcome'));
    const mails = await readMails('welcome@example.test');
    const { user } = await readCustomer('welcome@example.test');
    expect(mails).toMatchObject([{ kind: 'welcome', user_id: user.id }]);
    await vi.waitFor(
      async () => expect((await readMails('welcome@example.test'))[0]?.sent_at).toBeTruthy(),
      10_000,
    );
    const [mail, ...more] = await readMails('welcome@example.test');
    expect(more).toEqual([]);
    expect(mail?.kept_text).toMatch(/http:\/\/localhost:3000\/set-password\?token=[\w-]{20,}/);
  });
});

describe('a signup of an existing user', () => {
  it.each([
    ['a customer', 'customer@example.test', 'Customer@EXAMPLE.test'],
    ['a merchant', 'merchant@example.test', 'merchant@example.test'],
    ['an unverified user', 'unverified@example.test', 'UNVERIFIED@example.test'],
    ['a manager', 'manager@example.test', 'manager@example.TEST'],
    ['an administrator', 'admin@example.test', 'ADMIN@EXAMPLE.TEST'],
  ])('gives %s a contract and changes nothing else (contract 7.26)', async (_, email, spelling) => {
    const cookie = await app.login(email);
    const before = await readCustomer(email);
    const rowsBefore = await countRows();
    const signupId = `known_${email}`.replace('@', '_');
    const answer = await sendSignup(
      app,
      buildSignup(signupId, { user: { email: spelling, name: 'Another' }, account: { name: 'Another' } }),
    );
    expect(answer.status).toBe(201);
    expect(JSON.parse(answer.text)).toMatchObject({
      user: { id: before.user.id, created: false },
      account: { id: before.account.id, created: false },
      contract: { created: true },
    });
    expect(await readCustomer(email)).toEqual(before);
    const { contracts, mails } = rowsBefore;
    expect(await countRows()).toEqual({ ...rowsBefore, contracts: contracts + 1, mails: mails + 1 });
    expect(await isLoggedIn(app.send, cookie)).toBe(true);
    expect(await readMails(email)).toMatchObject([{ kind: 'contract_added' }]);
    expect(await isLoggedIn(app.send, await app.login(email))).toBe(true);
  });

  it('gives a suspended user a contract, who stays suspended', async () => {
    const email = 'suspended@example.test';
    const before = await readCustomer(email);
    const answer = await sendSignup(app, buildSignup('known_suspended', { user: { email, name: 'Sam' } }));
    expect([answer.status, JSON.parse(answer.text).user]).toEqual([
      201,
      { id: before.user.id, created: false },
    ]);
    expect(await readCustomer(email)).toEqual(before);
    expect(await readMails(email)).toMatchObject([{ kind: 'contract_added' }]);
    const login = await app.send('/login', { form: { email, password: 'local demo password' } });
    expect(login.status).toBe(403);
  });

  it('recognises an international address in its other spelling', async () => {
    const sign = (id: string, email: string) =>
      sendSignup(app, buildSignup(id, { user: { email, name: 'Zoë' } }));
    const first = JSON.parse((await sign('idn_1', 'zoë@münchen.example')).text);
    const second = JSON.parse((await sign('idn_2', 'ZOË@XN--MNCHEN-3YA.example')).text);
    expect(second.user).toEqual({ id: first.user.id, created: false });
    const mails = await readMails('zoë@xn--mnchen-3ya.example');
    expect(mails).toMatchObject([{ kind: 'welcome' }, { kind: 'contract_added' }]);
  });

  it('adds a second contract to the account, which its user sees and nobody else', async () => {
    const email = 'new-merchant@example.test';
    const client = openClient(app.send, await app.login(email));
    const sign = async (id: string, contract: ReturnType<typeof buildSignup>['contract']) =>
      JSON.parse((await sendSignup(app, buildSignup(id, { user: { email, name: 'Noor' }, contract }))).text)
        .contract.id;
    const trialEndsAt = new Date(Date.now() + 60_000);
    const first = await sign('pair_1', {
      plan: 'starter',
      status: 'trialing',
      trial_ends_at: trialEndsAt.toISOString(),
      price: { currency: 'KWD', unit_amount: 1_500, interval: 'year' },
    });
    const second = await sign('pair_2', { plan: 'pro', status: 'active' });
    expect(await client.contracts.list.query()).toEqual([
      {
        ...{ id: second, plan: 'pro', status: 'active', trialEndsAt: null, cancelsAt: null },
        ...{ lastDay: null, price: null },
      },
      {
        id: first,
        plan: 'starter',
        status: 'trialing',
        trialEndsAt,
        cancelsAt: null,
        // Without a seller, days are UTC days.
        lastDay: new Date(trialEndsAt.getTime() - 1).toISOString().slice(0, 10),
        price: { currency: 'KWD', unitAmount: 1_500, quantity: 1, interval: 'year', minorDigits: 3 },
      },
    ]);
    for (const other of ['unverified@example.test', 'admin@example.test', 'manager@example.test']) {
      const seen = await openClient(app.send, await app.login(other)).contracts.list.query();
      expect(seen.map(({ id }) => id).filter((id) => id === first || id === second)).toEqual([]);
    }
    expect((await refusalOf(openClient(app.send).contracts.list.query())).problem).toBe('login_required');
  });
});
