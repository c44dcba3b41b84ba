import { sql } from 'kysely';
import { describe, expect, it } from 'vitest';
import { logIn, openInspection, openSite, type TestSite } from '../support/app/browser.ts';
import { openClient } from '../support/app/trpc.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

type Page = Awaited<ReturnType<TestSite['visit']>>['page'];

async function enter(page: Page, client: string, email: string): Promise<void> {
  await page.goto(`/demo/${client}/login`);
  await logIn(page, email);
  await page.waitForURL(`**/demo/${client}`);
  await page.getByRole('heading', { name: /^Hello, / }).waitFor();
}

const soon = { timeout: 15_000 };

describe('an open page of a demo client', () => {
  it('shows a changed name soon, without a load', async () => {
    const { page, context, complaints } = await site.visit();
    await enter(page, 'marketplace', 'customer@example.test');
    let loads = 0;
    page.on('load', () => loads++);
    const profile = await context.newPage();
    await profile.goto('/profile');
    await profile.getByLabel('Name', { exact: true }).fill('Carla Changed');
    await profile.getByRole('button', { name: 'Save' }).click();
    await profile.getByText('Saved.').waitFor();
    await page.getByRole('heading', { name: 'Hello, Carla Changed' }).waitFor(soon);
    const log = page.getByRole('log', { name: 'Events as they arrive' });
    await log.getByText('refreshed the cached profile').waitFor();
    expect(loads).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows that a logout elsewhere has ended its session, and by which event', async () => {
    const { page, context, complaints } = await site.visit();
    await enter(page, 'network_site', 'merchant@example.test');
    const other = await context.newPage();
    await other.goto('/logout');
    await other.getByRole('main').getByRole('button', { name: 'Log out' }).click();
    await other.waitForURL('**/login?logged_out');
    await page.getByRole('heading', { name: 'You have been logged out' }).waitFor(soon);
    expect(await page.getByRole('status').textContent()).toContain('session.ended');
    expect(await page.getByText('merchant@example.test').count()).toBe(0);
    expect(complaints).toEqual([]);
  });

  it('shows that a suspension has, and that a login from before it does not come back', async () => {
    const { page, complaints } = await site.visit();
    await enter(page, 'crm_app', 'new-merchant@example.test');
    await sql`update users set suspended_at = now() where email = 'new-merchant@example.test'`.execute(
      site.app.db,
    );
    await page.getByRole('heading', { name: 'You have been logged out' }).waitFor(soon);
    await page.reload();
    await page.getByRole('heading', { name: 'You have been logged out' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('without script shows all that at its next load', async () => {
    const { page } = await site.visit({ javaScriptEnabled: false });
    await enter(page, 'marketplace', 'manager@example.test');
    const cookie = await site.app.login('manager@example.test');
    await openClient(site.app.send, cookie).profile.update.mutate({ name: 'Mira Moved' });
    await expect
      .poll(async () => {
        await page.reload();
        const name = await page.getByRole('heading', { level: 1 }).textContent();
        // The client may show the new name before it has read the event.
        const hasEvent = (await page.getByRole('log').textContent())?.includes('profile.updated');
        return { name, hasEvent };
      }, soon)
      .toEqual({ name: 'Hello, Mira Moved', hasEvent: true });
  });

  it('with its events has no serious axe finding, console message or sideways scrolling', async () => {
    const { page, context, complaints } = await site.visit();
    const { faults, look } = openInspection(page);
    for (const client of ['marketplace', 'network_site', 'crm_app']) {
      await page.goto(`/demo/${client}/login`);
      if (page.url().includes('/login')) await logIn(page, 'admin@example.test');
      await page.waitForURL(`**/demo/${client}`);
      await page.getByRole('heading', { name: /^Hello, / }).waitFor();
      await sql`update users set name = name || '!' where email = 'admin@example.test'`.execute(site.app.db);
      await page.getByText('refreshed the cached profile').first().waitFor(soon);
      await look(`events at ${client}`);
    }
    const other = await context.newPage();
    await other.goto('/logout');
    await other.getByRole('main').getByRole('button', { name: 'Log out' }).click();
    await page.getByRole('heading', { name: 'You have been logged out' }).waitFor(soon);
    await look('logged out by an event');
    expect(faults).toEqual([]);
    expect(complaints).toEqual([]);
  });
});
