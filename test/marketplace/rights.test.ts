// What an account may do, and whether it is verified: decided here, or said by the marketplace (contract 2.69 to 2.75).
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { describe, expect, it } from 'vitest';
import type { Decision } from '../../db/tables/accounts.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { locationOf } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { type Browser, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { buildHandOff, type HandOff, handOver } from '../support/marketplace/marketplace.ts';
import { shareRights } from '../support/people/rights.ts';

const rights = shareRights();
const { openCustomer, decide, nextTime, handOverNow, accountOf } = rights;

async function connect(browser: Browser, profile: HandOff) {
  const asked = await browser.send(
    await buildHandOff(rights.app, { profileUpdatedAt: nextTime(), ...profile }),
  );
  expect([asked.status, locationOf(asked).pathname]).toEqual([303, '/continue']);
  const page = asked.headers.get('location') ?? '';
  const before = textOf(await browser.send(page));
  const clicked = await browser.send(page, { form: {} });
  expect(clicked.status).toBe(303);
  return { before, clicked, after: textOf(await browser.send(clicked.headers.get('location') ?? '')) };
}

async function readRights(accountId: string) {
  const { rows } = await sql<{ capabilities: string[]; verified: boolean }>`
    select capabilities, verified_at is not null as verified from accounts where id = ${accountId}`.execute(
    rights.app.db,
  );
  return [...(rows[0]?.capabilities ?? []), ...(rows[0]?.verified ? ['verified'] : [])];
}

describe('what was decided here', () => {
  const cases: [decided: Decision, said: string[], has: boolean][] = [
    [true, [], true],
    [true, ['sell_services'], true],
    [false, [], false],
    [false, ['sell_services'], false],
    [null, [], false],
    [null, ['sell_services'], true],
  ];
  it.each(cases)('%s beside a link that says %j gives: %s', async (decision, capabilities, has) => {
    const { browser, email, accountId } = await openCustomer();
    await decide(accountId, 'sell_services', decision);
    await connect(browser, { id: uuidv7(), email, capabilities });
    expect(await readRights(accountId)).toEqual(has ? ['sell_services'] : []);
    // The result is the same if the decision is made after the link.
    const later = await openCustomer();
    await connect(later.browser, { id: uuidv7(), email: later.email, capabilities });
    await decide(later.accountId, 'sell_services', decision);
    expect(await readRights(later.accountId)).toEqual(has ? ['sell_services'] : []);
  });

  const verifications: [decided: Decision, said: string[], has: boolean][] = [
    [true, [], true],
    [false, ['sell_products'], false],
    [null, ['sell_products'], true],
    [null, [], false],
  ];
  it.each(verifications)(
    'verified: %s beside a link that says %j gives: %s',
    async (decision, capabilities, has) => {
      const { browser, email, accountId } = await openCustomer();
      await decide(accountId, 'verification', decision);
      await connect(browser, { id: uuidv7(), email, capabilities });
      expect(await readRights(accountId)).toEqual([...capabilities, ...(has ? ['verified'] : [])]);
    },
  );

  it('is what SQL changes, and only that', async () => {
    const id = uuidv7();
    await handOverNow({ id, capabilities: ['manage_storefront', 'sell_services'] });
    const accountId = await accountOf(id);
    await sql`update accounts set capabilities = '{sell_media_inventory,sell_services}' where id = ${accountId}`.execute(
      rights.app.db,
    );
    // The capabilities that SQL has added or removed stay so. The marketplace decides the others.
    await handOverNow({ id, capabilities: ['manage_storefront'] });
    expect(await readRights(accountId)).toEqual(['sell_media_inventory']);
    await sql`update accounts set verified_at = now() where id = ${accountId}`.execute(rights.app.db);
    await handOverNow({ id, capabilities: ['sell_services'] });
    expect(await readRights(accountId)).toEqual(['sell_media_inventory', 'sell_services', 'verified']);
  });

  it('is one thing or the other: the database refuses both', async () => {
    const { accountId } = await openCustomer();
    const both = sql`update accounts set granted_here = '{sell_services}', revoked_here = '{sell_services}'
      where id = ${accountId}`.execute(rights.app.db);
    await expect(both).rejects.toMatchObject({ constraint: 'accounts_decided_once' });
  });
});

describe('what the marketplace says', () => {
  it('is replaced by a newer profile, but for a verification (contract 6.24)', async () => {
    const id = uuidv7();
    await handOverNow({ id, capabilities: ['sell_products', 'sell_services'] });
    const accountId = await accountOf(id);
    expect(await readRights(accountId)).toEqual(['sell_products', 'sell_services', 'verified']);
    await handOverNow({ id, capabilities: ['sell_services'] });
    expect(await readRights(accountId)).toEqual(['sell_services', 'verified']);
    await handOver(rights.app, {
      id,
      capabilities: [],
      profileUpdatedAt: new Date('2025-01-01T00:00:00.000Z'),
    });
    expect(await readRights(accountId)).toEqual(['sell_services', 'verified']);
  });

  it('stays while the link sleeps', async () => {
    const id = uuidv7();
    await handOverNow({ id, capabilities: ['sell_services'] });
    await sql`update external_links set sleeping_since = now() where external_id = ${id}`.execute(
      rights.app.db,
    );
    const accountId = await accountOf(id);
    await decide(accountId, 'manage_storefront', true);
    expect(await readRights(accountId)).toEqual(['manage_storefront', 'sell_services']);
  });

  it('goes with the link, which the page says before, and leaves what was decided here', async () => {
    const { browser, email, accountId } = await openCustomer();
    const id = uuidv7();
    await decide(accountId, 'sell_services', true);
    await connect(browser, { id, email, capabilities: ['sell_products', 'sell_services'] });
    expect(await readRights(accountId)).toEqual(['sell_products', 'sell_services', 'verified']);
    const { links } = openClient(rights.app.send, browser.cookie());
    // Contract 11.21.
    expect(await links.list.query()).toMatchObject([{ loses: ['sell_products'], losesVerification: true }]);
    const page = textOf(await browser.send('/profile/security'));
    expect(page).toContain('only from the marketplace: Sell products, verification.');
    await links.remove.mutate({ provider: 'marketplace', externalId: id, currentPassword: demoPassword });
    expect(await readRights(accountId)).toEqual(['sell_services']);
  });

  it('adds up over the links of everybody who belongs to the account', async () => {
    const [one, other] = [uuidv7(), uuidv7()];
    await handOverNow({ id: one, capabilities: ['sell_services'] });
    await handOverNow({ id: other, capabilities: ['manage_storefront'] });
    const accountId = await accountOf(one);
    const left = await accountOf(other);
    await sql`update users set account_id = ${accountId} where account_id = ${left}`.execute(rights.app.db);
    expect(await readRights(accountId)).toEqual(['manage_storefront', 'sell_services']);
    expect(await readRights(left)).toEqual([]);
    await handOverNow({ id: other, capabilities: [] });
    expect(await readRights(accountId)).toEqual(['sell_services']);
    await sql`delete from users u using external_links l where l.user_id = u.id and l.external_id = ${one}`.execute(
      rights.app.db,
    );
    expect(await readRights(accountId)).toEqual([]);
  });

  it('adds up when 16 profiles of two people arrive at once', async () => {
    const [one, other] = [uuidv7(), uuidv7()];
    await handOverNow({ id: one });
    await handOverNow({ id: other });
    const accountId = await accountOf(one);
    await sql`update users set account_id = ${accountId} where account_id = ${await accountOf(other)}`.execute(
      rights.app.db,
    );
    const times = Array.from({ length: 8 }, nextTime);
    await Promise.all(
      times.flatMap((profileUpdatedAt) => [
        handOver(rights.app, { id: one, capabilities: ['sell_services'], profileUpdatedAt }),
        handOver(rights.app, { id: other, capabilities: ['manage_storefront'], profileUpdatedAt }),
      ]),
    );
    expect(await readRights(accountId)).toEqual(['manage_storefront', 'sell_services']);
  });
});

describe('Connect', () => {
  it('shows what will change, once its user has logged in, and afterwards what did (contract 6.48)', async () => {
    const { email, accountId } = await openCustomer();
    await decide(accountId, 'sell_services', true);
    const [id, later] = [uuidv7(), uuidv7()];
    const browser = openBrowser(rights.app.send);
    const profile = { id, email, capabilities: ['manage_storefront'], profileUpdatedAt: nextTime() };
    const asked = await browser.send(
      await buildHandOff(rights.app, { ...profile, returnTo: '/profile/products' }),
    );
    const page = asked.headers.get('location') ?? '';
    expect(textOf(await browser.send(page))).not.toMatch(/Manage a storefront|will change/);
    const login = await browser.send(`/login?prompt=login&next=${encodeURIComponent(page)}`);
    expect(textOf(login)).toContain('To connect your marketplace account');
    await browser.login(email, demoPassword);
    const before = textOf(await browser.send(page));
    expect(before).toContain(`Your name from Test Person to User ${id} `);
    expect(before).toContain('Manage a storefront from no to yes');
    expect(before).not.toContain('Sell services');
    expect(await readRights(accountId)).toEqual(['sell_services']);
    expect((await openClient(rights.app.send, browser.cookie()).links.list.query()).length).toBe(0);

    const clicked = await browser.send(page, { form: {} });
    expect(clicked.headers.get('location')).toBe('/profile/connected?next=%2Fprofile%2Fproducts');
    const after = await browser.send(clicked.headers.get('location') ?? '');
    expect(textOf(after)).toContain('Manage a storefront from no to yes');
    expect(after.text).toContain('href="/profile/products"');
    expect(after.text).toContain(`href="${rights.app.config.clients.get('marketplace')?.loginUrl}"`);
    // Only this user can open the page, and only for ten minutes.
    const stranger = await logIn(rights.app.send, 'customer@example.test');
    expect((await stranger.send('/profile/connected')).headers.get('location')).toBe('/profile');
    await sql`update audit_events set at = at - interval '10 minutes' where details ->> 'id' = ${id}`.execute(
      rights.app.db,
    );
    expect((await browser.send('/profile/connected?next=/profile/data')).headers.get('location')).toBe(
      '/profile/data',
    );

    // If a link is replaced, the account loses the rights that this link gave.
    await sql`update external_links set sleeping_since = now() where external_id = ${id}`.execute(
      rights.app.db,
    );
    const replaced = await connect(browser, { id: later, email });
    for (const text of [replaced.before, replaced.after])
      expect(text).toContain('Manage a storefront from yes to no');
    expect(await readRights(accountId)).toEqual(['sell_services']);
  });

  it('says that nothing changes where nothing does', async () => {
    const { browser, email } = await openCustomer();
    const { before, after } = await connect(browser, { id: uuidv7(), email, name: 'Test Person' });
    expect(before).toContain('Nothing in your account here will change.');
    expect(after).toContain('Nothing in your account here has changed.');
  });
});

it('a change of the source alone is kept, and tells nobody', async () => {
  const { browser, email, accountId } = await openCustomer();
  await connect(browser, { id: uuidv7(), email, capabilities: ['sell_services'] });
  await browser.send('/sso/launch/network_site');
  const readState = async () => {
    const { rows } =
      await sql`select profile_updated_at, (select count(*) from events e where e.user_id = u.id) as events
      from users u where email = ${email}`.execute(rights.app.db);
    return rows;
  };
  const before = await readState();
  await decide(accountId, 'sell_services', true);
  expect(await readState()).toEqual(before);
  const { rows } = await sql`select by, members from changes
    where subject = 'account' and row_id = ${accountId} order by at desc limit 1`.execute(rights.app.db);
  expect(rows).toEqual([
    { by: 'operator', members: { granted_here: { from: null, to: ['sell_services'] } } },
  ]);
  await decide(accountId, 'sell_services', false);
  expect(await readState()).not.toEqual(before);
});

it('of an account from before is worked out when its owner looks, which is no change to them', async () => {
  const { browser, email, accountId } = await openCustomer();
  await decide(accountId, 'sell_services', true);
  await connect(browser, { id: uuidv7(), email, capabilities: ['manage_storefront'] });
  const activity = async () => textOf(await browser.send('/profile/activity'));
  const before = await activity();
  await rights.app.db.transaction().execute(async (trx) => {
    await sql`set local session_replication_role = replica`.execute(trx);
    await sql`update external_links set capabilities = null, verified = null
      where user_id = (select id from users where email = ${email})`.execute(trx);
    await sql`update accounts set sources_known = false, granted_here = null where id = ${accountId}`.execute(
      trx,
    );
  });
  const { links } = openClient(rights.app.send, browser.cookie());
  const lists = await Promise.all(Array.from({ length: 16 }, () => links.list.query()));
  for (const list of lists) expect(list).toMatchObject([{ loses: ['manage_storefront'] }]);
  const { rows } = await sql`select subject, by, cause from changes where cause = 'sources'
    and (row_id = ${accountId} or user_id = (select id from users where email = ${email})) order by id`.execute(
    rights.app.db,
  );
  expect(rows).toEqual(['link', 'account'].map((subject) => ({ subject, by: 'service', cause: 'sources' })));
  expect(await activity()).toBe(before);
});

describe('beside the version before', () => {
  /** Applies a newer profile as the version before does, in one transaction: the account first, or the link first. */
  const applyAsBefore = (externalId: string, capabilities: string[], by: string, accountFirst: boolean) =>
    rights.app.db.transaction().execute(async (trx) => {
      await sql`select set_config('identity.origin', ${JSON.stringify({ by })}, true)`.execute(trx);
      const steps = [
        sql`update accounts a set capabilities = ${capabilities}, verified_at = coalesce(a.verified_at,
            case when ${capabilities.includes('sell_products')} then now() end)
          from users u join external_links l on l.user_id = u.id
          where u.account_id = a.id and l.external_id = ${externalId}`,
        sql`update external_links set applied_profile_updated_at = ${nextTime()} where external_id = ${externalId}`,
      ];
      for (const step of accountFirst ? steps : steps.reverse()) await step.execute(trx);
    });

  it.each([
    ['marketplace', true],
    ['person', false],
  ])('what it applies for the %s goes to the link', async (by, accountFirst) => {
    const id = uuidv7();
    await handOverNow({ id, capabilities: ['manage_storefront'] });
    const accountId = await accountOf(id);
    await decide(accountId, 'sell_media_inventory', true);
    await decide(accountId, 'sell_services', false);
    await applyAsBefore(id, ['sell_products', 'sell_services'], by, accountFirst);
    expect(await readRights(accountId)).toEqual(['sell_media_inventory', 'sell_products', 'verified']);
    await handOverNow({ id, capabilities: [] });
    expect(await readRights(accountId)).toEqual(['sell_media_inventory', 'verified']);
  });

  it('its Connect in place of another link takes what the new one says', async () => {
    const { browser, email, accountId } = await openCustomer();
    const [id, newer] = [uuidv7(), uuidv7()];
    await connect(browser, { id, email, capabilities: ['manage_storefront'] });
    await rights.app.db.transaction().execute(async (trx) => {
      await sql`select set_config('identity.origin', '{"by":"person"}', true)`.execute(trx);
      await sql`delete from external_links where external_id = ${id}`.execute(trx);
      await sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at)
        select 'marketplace', ${newer}, id, now() from users where email = ${email}`.execute(trx);
      await sql`update accounts set capabilities = '{sell_services}' where id = ${accountId}`.execute(trx);
    });
    expect(await readRights(accountId)).toEqual(['sell_services']);
    const { links } = openClient(rights.app.send, browser.cookie());
    expect(await links.list.query()).toMatchObject([{ externalId: newer, loses: ['sell_services'] }]);
  });
});
