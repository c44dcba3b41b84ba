import { expect, it } from 'vitest';
import { inEachAppearance, inspectPage, openSite } from '../support/app/browser.ts';
import { listOperations, readDocument } from '../support/app/openapi.ts';
import { byForm } from '../support/faults/faults.ts';
import { shared } from '../support/run/shared.ts';

const site = shared(openSite);

const isTooWide = 'document.documentElement.scrollWidth > document.documentElement.clientWidth';
const openAll = "for (const one of document.querySelectorAll('details')) one.open = true";
it('has no serious axe finding and no console message, and stays inside the screen with all of it open', async () => {
  const { page, complaints } = await site.visit();
  await page.goto('/developers/api');
  if (byForm({ short: false, long: true })) await page.evaluate(openAll);
  expect(await inspectPage(page, 'API reference')).toEqual([]);
  await page.evaluate(openAll);
  await inEachAppearance(page, async ({ name }) => {
    expect(await page.evaluate(isTooWide), name).toBe(false);
  });
  expect(complaints).toEqual([]);
});

it('shows every operation, schema and credential, each under an address of its own (contract 9.145)', async () => {
  const { page } = await site.visit();
  await page.goto('/developers/api');
  const { paths, webhooks, components } = await readDocument(site.app);
  const ids = (await page.evaluate('[...document.querySelectorAll("[id]")].map(({ id }) => id)')) as string[];
  expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
  const expected = [
    ...[...listOperations(paths), ...listOperations(webhooks)].map(({ operation }) => operation.operationId),
    ...Object.keys(components.schemas).map((schema) => `schema-${schema}`),
    ...Object.keys(components.securitySchemes).map((scheme) => `security-${scheme}`),
    ...Object.keys(components.responses).map((code) => `answer-${code}`),
  ];
  expect(expected.filter((id) => !ids.includes(id))).toEqual([]);
  const anchors = (await page.evaluate(
    'Array.from(document.querySelectorAll("a[href^=\\"#\\"]"), ({ hash }) => hash.slice(1))',
  )) as string[];
  expect(anchors.length).toBeGreaterThan(50);
  expect(anchors.filter((anchor) => !ids.includes(anchor))).toEqual([]);
});

it('works without script, and loads nothing from elsewhere', async () => {
  const { page, context } = await site.visit({ javaScriptEnabled: false });
  const asked: string[] = [];
  page.on('request', (request) => asked.push(request.url()));
  await page.goto('/developers/api');
  await page.getByRole('link', { name: 'Send a browser to log in' }).click();
  await page.getByRole('heading', { name: 'Send a browser to log in' }).waitFor();
  await page.getByText('logged_in gets 303', { exact: true }).click();
  await page.getByText('&return_to=%2Forders').waitFor();
  expect(asked.length).toBeGreaterThan(1);
  expect(asked.filter((url) => !url.startsWith(site.baseUrl))).toEqual([]);
  await page.getByRole('link', { name: 'openapi.json' }).click();
  await page.waitForURL('**/openapi.json');
  await context.close();
});
