// Passkeys in a real browser. Its authenticator is Chromium's virtual one.
import { sql } from 'kysely';
import type { CDPSession, Page } from 'playwright-core';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { followMail, logIn, openInspection, openSite } from '../support/app/browser.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

/**
 * Turns off the offer of a passkey in a field. Chromium's virtual authenticator would accept it immediately, and no test could
 * press a button.
 */
const offerNone = 'PublicKeyCredential.isConditionalMediationAvailable = async () => false;';

type Device = Awaited<ReturnType<typeof plugIn>>;

/** Gives the browser an authenticator that confirms each request as if its owner did. */
async function plugIn(page: Page) {
  const session: CDPSession = await page.context().newCDPSession(page);
  const plug = async () => {
    await session.send('WebAuthn.enable');
    return session.send('WebAuthn.addVirtualAuthenticator', {
      options: {
        protocol: 'ctap2',
        transport: 'internal',
        hasResidentKey: true,
        hasUserVerification: true,
        isUserVerified: true,
        automaticPresenceSimulation: true,
      },
    });
  };
  let { authenticatorId } = await plug();
  const listCredentials = async () =>
    (await session.send('WebAuthn.getCredentials', { authenticatorId })).credentials;
  return {
    recognise: (isUserVerified: boolean) =>
      session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified }),
    listCredentials,
    /** Unplugs the authenticator. Returns a function that plugs it in again, with the same passkeys. */
    async unplug() {
      const credentials = await listCredentials();
      await session.send('WebAuthn.disable');
      return async () => {
        ({ authenticatorId } = await plug());
        for (const credential of credentials)
          await session.send('WebAuthn.addCredential', { authenticatorId, credential });
      };
    },
  };
}

/** Declines the offer of a passkey that follows a login by password in a browser with an authenticator. */
async function passOver(page: Page): Promise<void> {
  await page.waitForURL('**/profile/passkeys/offer?next=**');
  await page.getByRole('button', { name: 'Not now' }).click();
}

async function addPasskey(page: Page, name: string): Promise<void> {
  await page.goto('/profile/passkeys');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.waitForURL('**/profile/passkeys/add');
  await page.getByLabel('Name').fill(name);
  await page.getByRole('button', { name: 'Create the passkey' }).click();
}

/** Opens a browser of somebody who has a passkey and has logged out. */
async function openWithPasskey(email: string): Promise<{ page: Page; device: Device; complaints: string[] }> {
  const { page, complaints } = await site.visit();
  const device = await plugIn(page);
  await page.addInitScript(offerNone);
  await page.goto('/login');
  await page.locator('[data-can-add-passkey][value=yes]').waitFor({ state: 'attached' });
  await logIn(page, email);
  await passOver(page);
  await page.waitForURL('**/profile');
  await addPasskey(page, 'Work laptop');
  await page.waitForURL('**/profile/passkeys?saved=added');
  await page.goto('/logout');
  await page.getByRole('main').getByRole('button', { name: 'Log out' }).click();
  await page.waitForURL('**/login?logged_out');
  return { page, device, complaints };
}

const notUsed = 'No passkey was used. Try again. If it is not on this device,';

describe('a passkey', () => {
  it('is added with a name, logs in from a client’s launch and back, and is removed', async () => {
    const { page, device, complaints } = await openWithPasskey('merchant@example.test');
    expect(await device.listCredentials()).toMatchObject([{ rpId: 'localhost', isResidentCredential: true }]);

    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.waitForURL('**/login?next=**');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/demo/marketplace');
    await page.getByText('merchant@example.test').first().waitFor();

    await page.goto('/profile/passkeys');
    await page.getByText('Last used').waitFor();
    await page.getByText('Remove passkey Work laptop').click();
    await page.getByRole('button', { name: 'Remove this passkey' }).click();
    await page.waitForURL('**/profile/passkeys?saved=remove');
    await page.getByText('You do not have a passkey yet.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('is not used where the device does not recognise the person, and the page says so', async () => {
    const { page, device } = await openWithPasskey('customer@example.test');
    await device.recognise(false);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText(`${notUsed} log in with your password.`).waitFor();
    await device.recognise(true);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/profile');
  });

  it('is used when its authenticator turns up, after a try without it', async () => {
    const { page, device, complaints } = await openWithPasskey('merchant@example.test');
    const plugIn = await device.unplug();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('That did not work. Try again, or log in with your password.').waitFor();
    await plugIn();
    await page.getByRole('button', { name: 'Use a passkey' }).press('Enter');
    await page.waitForURL('**/profile');
    expect(complaints).toEqual([]);
  });

  it('is not made twice on one device', async () => {
    const { page, device } = await openWithPasskey('manager@example.test');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/profile');
    await addPasskey(page, 'Again');
    await page.getByText('That device already has a passkey for this account.').waitFor();
    expect(await device.listCredentials()).toHaveLength(1);
  });

  it('gets another name once its owner has confirmed that it is them, without typing it again', async () => {
    const { page, complaints } = await openWithPasskey('new-merchant@example.test');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/profile');
    const aLongTimeAgo = new Date(Date.now() - 11 * 60_000);
    await site.app.db.updateTable('sessions').set({ auth_time: aLongTimeAgo }).execute();
    await page.goto('/profile/passkeys');
    await page.getByText('Rename passkey Work laptop').click();
    await page.getByLabel('Name').fill('Old laptop');
    await page.getByRole('button', { name: 'Save the name' }).click();
    await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/profile/passkeys?saved=rename');
    await page.getByText('The name has been saved.').waitFor();
    await page.getByText('Rename passkey Old laptop').waitFor();
    await page.getByText('Remove passkey Old laptop').click();
    await page.getByRole('button', { name: 'Remove this passkey' }).click();
    await page.waitForURL('**/profile/passkeys?saved=remove');
    expect(complaints).toEqual([]);
  });

  it('confirms a change, and the end of other sessions', async () => {
    const { page, device } = await openWithPasskey('admin@example.test');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/profile');
    // Starts a second session, which the test ends below.
    await site.app.login('admin@example.test');
    await device.recognise(false);
    await askToAdd(page);
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText(`${notUsed} enter your password.`).waitFor();
    await site.app.db
      .updateTable('users')
      .set({ password_hash: null })
      .where('email', '=', 'admin@example.test')
      .execute();
    await askToAdd(page);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText(`${notUsed} set a password by email.`).waitFor();
    await device.recognise(true);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.waitForURL('**/profile/passkeys/add');

    await stale();
    await page.goto('/profile/security');
    expect(await countSessions('admin@example.test')).toBe(2);
    await page.getByRole('button', { name: 'Log out everywhere else' }).click();
    await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
    await page.getByRole('button', { name: 'Log out everywhere else' }).click();
    await page.waitForURL('**/profile/security?saved=end-others');
    expect(await countSessions('admin@example.test')).toBe(1);
  });

  it('is offered where the email address is typed, and logs in without the button', async () => {
    const { page, complaints } = await site.visit();
    const device = await plugIn(page);
    await page.goto('/login?next=/profile/passkeys');
    await page.getByRole('button', { name: 'Use a passkey' }).waitFor();
    expect(await page.getByLabel('Email address').getAttribute('autocomplete')).toBe('username webauthn');
    await logIn(page, 'new-merchant@example.test');
    await page.waitForURL('**/profile/passkeys');
    await addPasskey(page, 'Phone');
    await page.waitForURL('**/profile/passkeys?saved=added');
    await page.context().clearCookies();
    await page.goto('/login?next=/profile/passkeys');
    await page.waitForURL('**/profile/passkeys');
    await page.getByText('Last used').waitFor();
    expect(await device.listCredentials()).toHaveLength(1);
    expect(complaints).toEqual([]);
  });
});

describe('the password manager forgets a passkey (contract 9.362)', () => {
  const countPasskeys = (device: Device) => device.listCredentials().then(({ length }) => length);
  const forgotten = (device: Device) => expect.poll(() => countPasskeys(device), { timeout: 10_000 }).toBe(0);
  const removeAll = () => sql`delete from passkeys`.execute(site.app.db);
  beforeEach(async () => {
    await removeAll();
    await sql`update users set passkeys_declined_at = null`.execute(site.app.db);
  });

  it('that its owner removes', async () => {
    const { page, device } = await openWithPasskey('customer@example.test');
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.waitForURL('**/profile');
    expect(await countPasskeys(device)).toBe(1);
    await page.goto('/profile/passkeys');
    await page.getByText('Remove passkey Work laptop').click();
    await page.getByRole('button', { name: 'Remove this passkey' }).click();
    await page.waitForURL('**/profile/passkeys?saved=remove');
    await forgotten(device);
  });

  it('that was removed elsewhere, once its owner logs in', async () => {
    const { page, device } = await openWithPasskey('merchant@example.test');
    await removeAll();
    await page.goto('/login');
    await logIn(page, 'merchant@example.test');
    await page.waitForURL('**/profile**');
    await page.goto('/profile');
    await forgotten(device);
  });

  it('that was removed elsewhere, once somebody tries to log in with it', async () => {
    const { page, device, complaints } = await openWithPasskey('new-merchant@example.test');
    await removeAll();
    await page.getByRole('button', { name: 'Use a passkey' }).click();
    await page.getByText('We could not log you in with that passkey.').waitFor();
    await forgotten(device);
    await page.addInitScript(
      'globalThis.told = []; PublicKeyCredential.signalUnknownCredential = async (id) => told.push(id)',
    );
    // A reload does not report the passkey as unknown a second time, because by then the last used passkey may be another one.
    await page.reload({ waitUntil: 'networkidle' });
    await page.getByText('We could not log you in with that passkey.').waitFor();
    expect(await page.evaluate('told')).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('and a browser that cannot pass it on shows the pages as ever', async () => {
    const { page, complaints } = await site.visit();
    await page.addInitScript('delete globalThis.PublicKeyCredential');
    await page.goto('/login');
    await logIn(page, 'customer@example.test');
    await page.waitForURL('**/profile');
    await page.getByRole('heading', { name: 'Your profile' }).waitFor();
    await page.goto('/profile/passkeys', { waitUntil: 'networkidle' });
    expect(complaints).toEqual([]);
  });
});

describe('the offer after a login by password', () => {
  /** Opens a browser with a platform authenticator, which is on the way to a product. */
  async function arrive(email: string) {
    const { page, complaints } = await site.visit();
    const device = await plugIn(page);
    await page.addInitScript(offerNone);
    await page.goto('/demo/marketplace');
    await page.getByRole('link', { name: 'Log in with Identity' }).click();
    await page.locator('[data-can-add-passkey][value=yes]').waitFor({ state: 'attached' });
    await logIn(page, email);
    return { page, device, complaints };
  }
  const forget = () => sql`delete from passkeys`.execute(site.app.db);

  it('adds a passkey with two clicks, and leads on to the product', async () => {
    await forget();
    const { page, device, complaints } = await arrive('merchant@example.test');
    await page.getByRole('heading', { name: 'Log in without your password next time?' }).waitFor();
    await device.recognise(false);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.getByText('No passkey was created. Try again when you are ready.').waitFor();
    await device.recognise(true);
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.waitForURL('**/demo/marketplace');
    expect(await device.listCredentials()).toHaveLength(1);
    await page.goto('/profile/passkeys');
    await page.getByText('Not used yet.').waitFor();
    expect(complaints).toEqual([]);
  });

  it('is put off by keyboard, and then not made again in the session', async () => {
    await forget();
    const { page, complaints } = await arrive('new-merchant@example.test');
    await page.waitForURL('**/profile/passkeys/offer?next=**');
    await page.getByRole('button', { name: 'Not now, continue to Marketplace' }).press('Enter');
    await page.waitForURL('**/demo/marketplace');
    await page.goto('/login?prompt=login&next=/profile/billing');
    await page.locator('[data-can-add-passkey][value=yes]').waitFor({ state: 'attached' });
    await logIn(page, 'new-merchant@example.test');
    await page.waitForURL('**/profile/billing');
    expect(complaints).toEqual([]);
  });

  it('is not made again once somebody has said so', async () => {
    await forget();
    const { page } = await arrive('customer@example.test');
    await page.getByRole('button', { name: 'Don’t ask again' }).click();
    await page.waitForURL('**/demo/marketplace');
    await page.context().clearCookies();
    await page.goto('/login');
    await page.locator('[data-can-add-passkey][value=yes]').waitFor({ state: 'attached' });
    await logIn(page, 'customer@example.test');
    await page.waitForURL('**/profile');
    await sql`update users set passkeys_declined_at = null`.execute(site.app.db);
  });

  it.each([
    ['without an authenticator in the browser', true],
    ['without script', false],
  ])('does not stand in the way: %s', async (_, javaScriptEnabled) => {
    await forget();
    const { page } = await site.visit({ javaScriptEnabled });
    await page.goto('/login', { waitUntil: 'networkidle' });
    expect(await page.locator('[data-can-add-passkey]').getAttribute('value')).not.toBe('yes');
    await logIn(page, 'merchant@example.test');
    await page.waitForURL('**/profile');
  });

  it('without script, says what to do, should somebody come there', async () => {
    await forget();
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto('/login');
    await logIn(page, 'merchant@example.test');
    await page.goto('/profile/passkeys/offer?next=/profile/billing');
    await page.getByText('This browser cannot add a passkey, or JavaScript is turned off.').waitFor();
    expect(await page.getByRole('button', { name: 'Add a passkey' }).isVisible()).toBe(false);
    await page.getByRole('button', { name: 'Not now' }).click();
    await page.waitForURL('**/profile/billing');
  });
});

/** Dates all logins back. */
const stale = () =>
  site.app.db
    .updateTable('sessions')
    .set({ auth_time: new Date(Date.now() - 11 * 60_000) })
    .execute();

async function askToAdd(page: Page): Promise<void> {
  await stale();
  await page.goto('/profile/passkeys');
  await page.getByRole('button', { name: 'Add a passkey' }).click();
  await page.getByRole('heading', { name: 'Confirm it’s you' }).waitFor();
}

it('a newcomer’s mail adds a passkey instead of a password', async () => {
  const { page, complaints } = await site.visit();
  const device = await plugIn(page);
  await pushSignup(site.app, buildSignup('crm_device'));
  await followMail(page, 'crm_device@example.test', '/set-password');
  await page.getByRole('button', { name: 'Create a passkey instead' }).click();
  await page.waitForURL('**/profile/passkeys?saved=added');
  await page.getByText('You do not have a password.').waitFor();
  expect(await device.listCredentials()).toHaveLength(1);
  expect(complaints).toEqual([]);
});

it('takes an account back, with the new password that is in the same form', async () => {
  const email = 'customer@example.test';
  const { page, complaints } = await openWithPasskey(email);
  // Makes the passkey count as one that was added in an established browser.
  await sql`update passkeys p set from_established_browser = true from users u
    where u.id = p.user_id and u.email = ${email}`.execute(site.app.db);
  const sent = await vi.waitFor(async () => {
    const { rows } = await sql<{ text: string | null }>`select kept_text as text from mails
      where recipient = ${email} and kind = 'passkey_added' order by created_at desc limit 1`.execute(
      site.app.db,
    );
    expect(rows[0]?.text).toBeTypeOf('string');
    return rows[0]?.text ?? '';
  }, 10_000);
  await page.goto(/^http:\S+$/m.exec(sent)?.[0] ?? '');
  await page.getByRole('heading', { name: 'If you do not have a passkey' }).waitFor();
  await page.getByLabel('New password').fill('short');
  await page.getByRole('button', { name: 'Take your account back with your passkey' }).click();
  await page.getByText('Your password must be at least 12 characters long.').waitFor();
  await page.getByLabel('New password').fill('eight louder lanterns');
  await page.getByRole('button', { name: 'Take your account back with your passkey' }).click();
  await page.waitForURL('**/profile?saved=taken-back');
  await page.getByText('You have your account back').waitFor();
  expect(complaints).toEqual([]);
});

it('somebody signs up with a passkey on the way to a client, and ends there', async () => {
  const { page, complaints } = await site.visit();
  await plugIn(page);
  await page.goto('/demo/marketplace');
  await page.getByRole('link', { name: 'Log in with Identity' }).click();
  await page.getByRole('link', { name: 'Create an account' }).click();
  await page.getByLabel('Name').fill('Pia Passkey');
  await page.getByLabel('Email address').fill('pia@example.test');
  await page.getByRole('button', { name: 'Continue' }).click();
  await page.getByRole('heading', { name: 'Check your email' }).waitFor();
  await followMail(page, 'pia@example.test', '/signup/confirm');
  // The person can edit the name before they press either button.
  await page.getByLabel('Name').fill('');
  await page.getByRole('button', { name: 'Create a passkey instead' }).click();
  expect(await page.evaluate('document.activeElement.matches("input[name=name]:invalid")')).toBe(true);
  await page.getByLabel('Name').fill('Pia P. Passkey');
  await page.getByRole('button', { name: 'Create a passkey instead' }).click();
  await page.getByRole('heading', { name: 'Hello, Pia P. Passkey' }).waitFor();
  expect(complaints).toEqual([]);
});

describe('without JavaScript', () => {
  it('the login page has the password only, and the pages of passkeys say what they need', async () => {
    const { page } = await site.visit({ javaScriptEnabled: false });
    await page.goto('/login');
    expect(await page.getByRole('button', { name: 'Use a passkey' }).isVisible()).toBe(false);
    await logIn(page, 'new-merchant@example.test');
    await page.goto('/profile/passkeys');
    await page.getByRole('button', { name: 'Add a passkey' }).click();
    await page.waitForURL('**/profile/passkeys/add');
    await page.getByText('This browser cannot create a passkey').waitFor();
  });
});

it('a page’s script for passkeys is small', async () => {
  const { page } = await site.visit();
  const sizes: number[] = [];
  page.on('response', async (response) => {
    if (!/\/forms-/.test(response.url())) return;
    sizes.push(Number((await response.request().sizes()).responseBodySize));
  });
  await page.goto('/login', { waitUntil: 'networkidle' });
  expect(sizes).toHaveLength(1);
  expect(sizes[0]).toBeLessThan(6_000);
});

it('pages of passkeys: no serious fault, no sideways scrolling', async () => {
  await sql`delete from passkeys`.execute(site.app.db);
  const { page } = await site.visit();
  await plugIn(page);
  await page.goto('/login?next=/profile');
  await page.locator('[data-can-add-passkey][value=yes]').waitFor({ state: 'attached' });
  await logIn(page, 'new-merchant@example.test');
  await page.waitForURL('**/profile/passkeys/offer?next=**');
  const { faults, look } = openInspection(page);
  await look('passkey offer');
  await passOver(page);
  await page.waitForURL('**/profile');
  await look('passkeys', '/profile/passkeys');
  await addPasskey(page, 'x'.repeat(200));
  await page.waitForURL('**/profile/passkeys?saved=added');
  for (const summary of await page.locator('summary').all()) await summary.click();
  await look('passkeys with a long name');
  await look('passkey add', '/profile/passkeys/add');
  await page.getByRole('button', { name: 'Create the passkey' }).click();
  await page.getByText('already').waitFor();
  await look('passkey add refused');
  expect(faults).toEqual([]);
});

async function countSessions(email: string): Promise<number> {
  const rows = await site.app.db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .select('s.id')
    .where('u.email', '=', email)
    .where('s.ended_at', 'is', null)
    .execute();
  return rows.length;
}
