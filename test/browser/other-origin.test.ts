// What browsers do where a client's callback leads on to another origin, as docs/integrate.md says.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { logIn, openSite, type TestSite } from '../support/app/browser.ts';

/** A client on two origins, localhost and 127.0.0.1. */
const client = createServer((request, response) => {
  const { port } = client.address() as AddressInfo;
  const leadsOn = request.url?.startsWith('/callback');
  response.writeHead(leadsOn ? 303 : 200, {
    'content-type': 'text/html',
    ...(leadsOn && { location: `http://127.0.0.1:${port}/` }),
  });
  response.end('<title>Client</title>');
});

let site: TestSite;
beforeAll(async () => {
  await new Promise<void>((done) => client.listen(0, done));
  const { port } = client.address() as AddressInfo;
  site = await openSite({ SSO_MARKETPLACE_CALLBACK_URL: `http://localhost:${port}/callback` });
});
afterAll(async () => {
  await site?.close();
  client.closeAllConnections();
  await new Promise((done) => client.close(done));
});

it('they stop at the login page, and say so in the console only; without the form they go on', async () => {
  const { page, context, complaints } = await site.visit();
  await page.goto('/sso/launch/marketplace');
  await logIn(page);
  await expect.poll(() => complaints.join()).toContain('form-action');
  expect(new URL(page.url()).pathname).toBe('/login');

  await page.goto('/sso/launch/marketplace');
  await page.waitForURL('http://127.0.0.1:*/');
  await context.close();
});
