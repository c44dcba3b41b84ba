// Attacks on what an account may do here. The attacker uses a marketplace account: their own, or somebody else's.
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { logIn } from '../support/app/visitor.ts';
import { buildHandOff, openHandOff } from '../support/marketplace/marketplace.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const capabilitiesOf = async (email: string): Promise<string[]> => {
  const { rows } = await sql<{ capabilities: string[] }>`
    select capabilities from accounts a join users u on u.account_id = a.id where u.email = ${email}`.execute(
    app.db,
  );
  return [...(rows[0]?.capabilities ?? [])].sort();
};

it('a Connect with a marketplace account that has no capabilities takes none from a verified merchant', async () => {
  const email = 'merchant@example.test';
  const before = await capabilitiesOf(email);
  expect(before.length).toBeGreaterThan(1);
  const browser = await logIn(app.send, email);
  const profile = async () => JSON.parse((await browser.send('/sso/profile')).text);
  const { role, account } = await profile();
  const url = await buildHandOff(app, { id: 'bare', email, profileUpdatedAt: new Date() });
  expect((await openHandOff(browser, url)).status).toBe(303);
  const { rows } = await sql`select 1 from external_links where external_id = 'bare'`.execute(app.db);
  expect(rows).toHaveLength(1);
  expect(await capabilitiesOf(email)).toEqual(before);
  expect(await profile()).toMatchObject({ role, account });
  // A second hand-off does not change the capabilities.
  await openHandOff(app, await buildHandOff(app, { id: 'bare', email, profileUpdatedAt: new Date() }));
  expect(await capabilitiesOf(email)).toEqual(before);
});

it('what a borrowed marketplace account gave goes when it is disconnected', async () => {
  const email = 'customer@example.test';
  const browser = await logIn(app.send, email);
  const lent = {
    id: 'lent',
    email,
    capabilities: ['sell_products', 'sell_services'],
    profileUpdatedAt: new Date(),
  };
  await openHandOff(browser, await buildHandOff(app, lent));
  expect(await capabilitiesOf(email)).toEqual(['sell_products', 'sell_services']);
  const form = { intent: 'remove-link', externalId: 'lent', currentPassword: 'local demo password' };
  expect((await browser.send('/profile/security', { form })).status).toBe(303);
  expect(await capabilitiesOf(email)).toEqual([]);
  const { account } = JSON.parse((await browser.send('/sso/profile')).text);
  expect(account.capabilities).toEqual([]);
});

it('a capability that was taken here stays taken, even if the marketplace grants it again and again', async () => {
  const id = 'banned';
  const say = async () =>
    openHandOff(
      app,
      await buildHandOff(app, { id, capabilities: ['sell_services'], profileUpdatedAt: new Date() }),
    );
  await say();
  expect(await capabilitiesOf('banned@example.test')).toEqual(['sell_services']);
  await sql`update accounts set capabilities = '{}' where id = (
    select account_id from users where email = 'banned@example.test')`.execute(app.db);
  await Promise.all(Array.from({ length: 16 }, say));
  expect(await capabilitiesOf('banned@example.test')).toEqual([]);
});
