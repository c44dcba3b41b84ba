// Refused new passwords are counted by every form that sets one (contract 9.244 and 9.245).
import { sql } from 'kysely';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { requireGoodPassword } from '../../server/identity/password/new-password.ts';
import { openPasswordCheck } from '../../server/identity/password/password-check.ts';
import { Deadline } from '../../server/web/deadline.ts';
import { type Answer, expectRetryAfter, locationOf } from '../support/app/app.ts';
import { fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import { dayMs, newPassword, password, shareAddressChanges } from '../support/people/address-changes.ts';
import { addPasskey } from '../support/people/authenticator.ts';
import { readToken } from '../support/people/kept-mail.ts';
import { offerTo } from '../support/people/new-addresses.ts';
import { linkOf } from '../support/people/take-backs.ts';

const changes = shareAddressChanges();
beforeEach(() => sql`truncate rate_limits`.execute(changes.app.db));

/** Sends a new password, by default from another network each time. */
type Door = (typed: string, options?: { from?: string }) => Promise<Answer>;

const through =
  (path: string, fields: Record<string, string> = {}, browser = openBrowser(changes.app.send)): Door =>
  (typed, { from = changes.from() } = {}) =>
    browser.send(path, { form: { ...fields, newPassword: typed }, from });

async function askForSignUp() {
  const email = changes.newEmail();
  const form = { name: 'Cora Change', email };
  await changes.app.send('/signup', { form, from: changes.from() });
  return { email, path: `/signup/confirm?token=${await readToken(changes.other, email, 'sign_up')}` };
}
const openSignUp = async () => through((await askForSignUp()).path, { name: 'Cora Change' });

const doors: Record<string, () => Promise<Door>> = {
  '/signup/confirm': openSignUp,
  async '/set-password'() {
    const { email } = await changes.signUp();
    await changes.app.send('/forgot-password', { form: { email }, from: changes.from() });
    return through(`/set-password?token=${await readToken(changes.other, email, 'set_password', 2)}`);
  },
  async '/take-back'() {
    const { email } = await changes.signUp();
    changes.passTime(30 * dayMs);
    await addPasskey(await logIn(changes.app.send, email, password));
    return through(await linkOf(changes, email, 'passkey_added'));
  },
  async '/new-address'() {
    const person = await changes.signUp();
    changes.passTime(30 * dayMs);
    return through((await offerTo(changes, person)).link);
  },
  async '/profile/security'() {
    const { browser } = await changes.signUp();
    return through('/profile/security', { intent: 'password', currentPassword: password }, browser);
  },
};

const weak = 'password1234';
const later = () => sql`update rate_limits set expire = expire - 15 * 60 * 1000`.execute(changes.app.db);
/** Returns how many refusals are counted: for IP addresses, and for links and users. */
const countRefused = async () =>
  (
    await sql<{ prefix: string; points: number }>`select split_part(key, ':', 1) as prefix,
      sum(points)::int as points from rate_limits where key like 'new-password%' group by 1`.execute(
      changes.app.db,
    )
  ).rows;

/** Makes up for tries that a busy machine did not count, or counted and took back. */
const countAtLeast = (points: number) =>
  sql`update rate_limits set points = greatest(points, ${points}) where key like 'new-password:%'`.execute(
    changes.app.db,
  );

describe.each(Object.entries(doors))('at %s', (_, open) => {
  it('are thirty in a quarter of an hour, even when 16 come at once, and then the door is open again', async () => {
    const send = await open();
    for (let n = 0; n < 28; n++) {
      const refused = await send(n % 2 ? weak : 'short');
      expect([refused.status, refused.text]).toEqual([422, expect.stringMatching(/too easy|at least 12/)]);
    }
    const atOnce = await Promise.all(Array.from({ length: 16 }, () => send(weak)));
    const statuses = atOnce.map(({ status }) => status);
    // Two passwords are still checked, or fewer if a busy machine answers too late.
    for (const status of statuses) expect([422, 429, 503]).toContain(status);
    expect(statuses.filter((status) => status === 422).length).toBeLessThanOrEqual(2);
    if (!statuses.includes(503)) expect(statuses.filter((status) => status === 422)).toHaveLength(2);
    await countAtLeast(30);
    // After the limit is reached, no password is checked.
    const one = await send(newPassword);
    expect(one.status).toBe(429);
    expectRetryAfter(one, 15 * 60);
    await later();
    expect((await send(newPassword)).status).toBe(303);
  });

  it('leave no count once a password was set', async () => {
    const send = await open();
    for (let n = 0; n < 3; n++) expect((await send(weak)).status).toBe(422);
    expect((await send(newPassword)).status).toBe(303);
    expect(await countRefused()).toEqual(
      expect.arrayContaining([
        { prefix: 'new-password', points: 3 },
        { prefix: 'new-password-address', points: 3 },
      ]),
    );
  });

  it('are told with how long to wait, on the page', async () => {
    const send = await open();
    expect((await send(weak)).status).toBe(422);
    await sql`update rate_limits set points = 30 where key like 'new-password:%'`.execute(changes.app.db);
    const refused = await send(weak);
    expect(textOf(refused)).toMatch(/Too many passwords have been refused|too many attempts/);
    expect(textOf(refused)).toMatch(/Try again in (15|14) minutes/);
    expect(refused.text).not.toContain(weak);
  });
});

it('by one link do not count against other links from the same place, which has a hundred in all', async () => {
  const from = '198.51.100.7';
  const send = await openSignUp();
  for (let n = 0; n < 31; n++) expect((await send(weak, { from })).status).toBe(n < 30 ? 422 : 429);
  const other = await openSignUp();
  expect((await other(weak, { from })).status).toBe(422);
  await sql`update rate_limits set points = 100 where key like 'new-password-address:%'`.execute(
    changes.app.db,
  );
  expect((await other(weak, { from })).status).toBe(429);
  expect((await other(weak, { from: '198.51.100.8' })).status).toBe(422);
});

it('from an address that has used up its own leave the link as it is', async () => {
  const send = await openSignUp();
  expect((await send(weak)).status).toBe(422);
  const from = '198.51.100.9';
  const other = await openSignUp();
  expect((await other(weak, { from })).status).toBe(422);
  await sql`update rate_limits set points = 100 where key like 'new-password-address:%'`.execute(
    changes.app.db,
  );
  const before = (await countRefused()).find(({ prefix }) => prefix === 'new-password');
  for (let n = 0; n < 3; n++) expect((await send(weak, { from })).status).toBe(429);
  expect((await countRefused()).find(({ prefix }) => prefix === 'new-password')).toEqual(before);
});

it('are counted though the client hangs up, and not if the queue is full, where one key has three places', async () => {
  const check = openPasswordCheck();
  const deps = { ...changes.other.backend.deps, passwordCheck: check };
  const given = { password: newPassword, email: 'x@x.test', name: 'Zoe' };
  const hangUp = new AbortController();
  const visit = { deadline: new Deadline(), signal: hangUp.signal };
  const giveBack = vi.fn(async () => {});
  const counted = { giveBack, keys: ['link'] };
  const atOnce = await Promise.allSettled(
    Array.from({ length: 4 }, () => requireGoodPassword(deps, visit, counted, given)),
  );
  expect(atOnce.map(({ status }) => status)).toEqual(['fulfilled', 'fulfilled', 'fulfilled', 'rejected']);
  expect(giveBack).toHaveBeenCalledTimes(1);
  const good = await requireGoodPassword(deps, visit, counted, given);
  hangUp.abort();
  await expect(good.hash()).rejects.toThrow();
  expect(giveBack).toHaveBeenCalledTimes(1);
});

it('from one line of IPv6 are a hundred, and from one /48 three hundred', async () => {
  const send = await openSignUp();
  expect((await send(weak, { from: '2001:db8:1:1::1' })).status).toBe(422);
  expect((await send(weak, { from: '2001:db8:1:2::1' })).status).toBe(422);
  const points = (await countRefused()).map(({ prefix, points }) => [prefix, points]);
  expect(Object.fromEntries(points)).toMatchObject({ 'new-password-address': 2, 'new-password-site': 2 });
  const set = (name: string, count: number) =>
    sql`update rate_limits set points = ${count} where key like ${`${name}:%`}`.execute(changes.app.db);
  await set('new-password-address', 100);
  expect((await send(weak, { from: '2001:db8:1:1::2' })).status).toBe(429);
  expect((await send(weak, { from: '2001:db8:1:3::1' })).status).toBe(422);
  await set('new-password-site', 300);
  expect((await send(weak, { from: '2001:db8:1:4::1' })).status).toBe(429);
  expect((await send(weak, { from: '2001:db8:2:1::1' })).status).toBe(422);
});

it('in a session are those of the user, of programs too, and what comes beyond them costs no hash of the current one', async () => {
  const { browser } = await changes.signUp();
  const page = through('/profile/security', { intent: 'password', currentPassword: password }, browser);
  expect((await page(weak)).status).toBe(422);
  await sql`update rate_limits set points = 30 where key like 'new-password:%'`.execute(changes.app.db);
  const json = { json: { currentPassword: password, newPassword } };
  const refused = await browser.send('/trpc/profile.changePassword', { json });
  expect(refused.status).toBe(429);
  expectRetryAfter(refused, 15 * 60);
  // At this limit, the current password is not checked either.
  const wrong = through('/profile/security', { intent: 'password', currentPassword: 'wrong' }, browser);
  expect((await wrong(newPassword)).status).toBe(429);
});

it('in a session are not those of the user who gave a wrong current password, whose guesses are counted', async () => {
  const { browser } = await changes.signUp();
  const wrong = through('/profile/security', { intent: 'password', currentPassword: 'wrong' }, browser);
  expect((await wrong(newPassword)).status).toBe(422);
  for (const { points } of await countRefused()) expect(points).toBe(0);
});

it('in a browser of a thief do not keep the owner from a new one in a browser that they have had for a week', async () => {
  const { browser, id, email } = await changes.signUp();
  await sql`update devices set known_since = known_since - interval '8 days' where user_id = ${id}`.execute(
    changes.app.db,
  );
  const thief = await logIn(changes.app.send, email, password);
  const fields = { intent: 'password', currentPassword: password };
  expect((await through('/profile/security', fields, thief)(weak)).status).toBe(422);
  await sql`update rate_limits set points = 30 where key like 'new-password:%'`.execute(changes.app.db);
  expect((await through('/profile/security', fields, thief)(weak)).status).toBe(429);
  expect((await through('/profile/security', fields, browser)(newPassword)).status).toBe(303);
});

it('leave the link, and the page that a browser is led to says so, for how long to wait, and what else works', async () => {
  const browser = openBrowser(changes.app.send);
  const { path, email } = await askForSignUp();
  const form = { name: 'Cora New', newPassword: weak };
  // The page sets the cookie under which a refusal is kept.
  await browser.send(path, { headers: { accept: 'text/html' } });
  expect((await browser.send(path, { form })).status).toBe(422);
  await sql`update rate_limits set points = 30 where key like 'new-password:%'`.execute(changes.app.db);
  const led = await browser.send(path, { form, headers: { accept: 'text/html' } });
  expect(led.status).toBe(303);
  const { pathname, search } = locationOf(led);
  const page = await browser.send(pathname + search);
  expect(page.status).toBe(429);
  expectRetryAfter(page, 15 * 60);
  expect(textOf(page)).toMatch(
    /Too many passwords have been refused in a short time\. This link still works\. Try again in 1[45] minutes\./,
  );
  expect(textOf(page)).toContain('create a passkey instead');
  expect(textOf(page)).toContain(email);
  expect(fieldOf(page, 'name').value).toBe('Cora New');
  expect((await browser.send(path)).status).toBe(200);
});
