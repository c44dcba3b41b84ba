// The real service, a product that is its OpenID Connect client, and people who go from one to the other.

import { sql } from 'kysely';
import type { Page } from 'playwright-core';
import { expect, vi } from 'vitest';
import { logIn, openSite, type TestSite } from '../support/app/browser.ts';
import { runCli } from '../support/app/cli.ts';
import { findFreePort } from '../support/app/process.ts';

/** What a product needs to know of the service, and where it listens. */
export type Place = { issuer: string; client: string; secret: string; origin: string; port: number };

export type Product = { close: () => Promise<void> };

export type Pair = { site: TestSite; origin: string; close: () => Promise<void> };

export type PairOptions = {
  /** The options of `client:add`, for a product at `origin`. */
  options: (origin: string) => string[];
  open: (place: Place) => Promise<Product>;
  now?: () => Date;
};

const soon = { timeout: 15_000, interval: 100 };

/** Adds the client as an operator does, and then starts the product. */
export async function openPair({ options, open, now }: PairOptions): Promise<Pair> {
  const port = await findFreePort();
  const site = await openSite({}, now);
  // The product is at 127.0.0.1 and the service at localhost, so that their cookies belong to different sites.
  const origin = `http://127.0.0.1:${port}`;
  const client = 'product';
  try {
    const secret = await addClient(site, client, options(origin));
    const { issuer } = site.app.config;
    const product = await open({ issuer, client, secret, origin, port });
    const close = () => product.close().finally(site.close);
    return { site, origin, close };
  } catch (error) {
    await site.close();
    throw error;
  }
}

async function addClient({ app }: TestSite, name: string, options: string[]): Promise<string> {
  const args = ['client:add', name, '--kind', 'openid', ...options, '--why', 'A test', '--json'];
  const settings = { PORT: new URL(app.config.baseUrl).port };
  const { code, out, err } = await runCli(app.databaseUrl, args, '', 'test', settings);
  if (code !== 0) throw new Error(`client:add: ${err}`);
  const { secret } = JSON.parse(out);
  const isThere = async () => (await app.send('/.well-known/openid-configuration')).status;
  await vi.waitFor(async () => expect(await isThere()).toBe(200), soon);
  return secret;
}

export const person = {
  email: 'merchant@example.test',
  name: 'Maya Merchant',
  groups: ['merchant', 'manage_storefront', 'sell_products', 'sell_services'],
};

/** Opens the product, and goes on to the login page by the product's link. */
export async function askForLogin(page: Page, { origin }: Pair): Promise<void> {
  await page.goto(`${origin}/`);
  await page.getByText('Log in', { exact: true }).click();
}

/** Logs in at the product, by the login page of the service. */
export async function logInAt(page: Page, pair: Pair): Promise<unknown> {
  await askForLogin(page, pair);
  await logIn(page, person.email);
  return findPerson(page, pair);
}

/** Returns what the product says of the person that it has let in. */
export async function findPerson(page: Page, { origin }: Pair) {
  await page.waitForURL(`${origin}/**`);
  return JSON.parse((await page.locator('#who').textContent()) ?? '');
}

export async function expectNobody(page: Page, { origin }: Pair): Promise<void> {
  await page.goto(`${origin}/`);
  expect(await page.locator('#who').count()).toBe(0);
}

/** Ends the session at the service, as on its own page. */
export async function logOutHere(page: Page, { site }: Pair): Promise<void> {
  await page.goto(`${site.baseUrl}/logout`);
  await page.getByRole('button', { name: 'Log out' }).click();
  await page.getByText('You have logged out.').waitFor();
}

/** Returns what became of each back-channel log-out, in order. */
export async function listLogouts({ site }: Pair): Promise<string[]> {
  const { rows } = await sql<{ became: string }>`
    select coalesce(failure, case when ended_at is null then 'waiting' else 'taken' end) as became
    from log_outs order by made_at`.execute(site.app.db);
  return rows.map(({ became }) => became);
}

/**
 * Ends one of two sessions of a person at the service, as on the service's own page. The product ends the same session and no
 * other, within two seconds, or a few more on a busy machine.
 */
export async function expectBackChannelLogout(pair: Pair): Promise<void> {
  const [first, second] = [await pair.site.visit(), await pair.site.visit()];
  for (const { page } of [first, second]) await logInAt(page, pair);
  await logOutHere(await first.context.newPage(), pair);
  await vi.waitFor(() => expectNobody(first.page, pair), soon);
  await second.page.goto(`${pair.origin}/`);
  expect(await findPerson(second.page, pair)).toMatchObject({ email: person.email });
  await vi.waitFor(async () => expect((await listLogouts(pair)).at(-1)).toBe('taken'), soon);
  await Promise.all([first.context.close(), second.context.close()]);
}
