// The doctor at the demo clients of a real service: a newcomer's first run of it finds nothing wrong.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { examine } from '../../server/doctor/examine.ts';
import type { Tools } from '../../server/doctor/target.ts';
import { openApp, type TestApp } from '../support/app.ts';

let app: TestApp;
beforeAll(async () => {
  app = await openApp();
});
afterAll(() => app.close());

// Again where the machine is so busy that the service turned requests away.
it.each(['marketplace', 'crm_app'])('finds nothing at the demo client %s', { retry: 2 }, async (client) => {
  const { baseUrl, issuer, ssoTtlSeconds: ttlSeconds, clients } = app.config;
  const { secrets = [] } = clients.get(client) ?? {};
  const demo = `${baseUrl}/demo/${client}`;
  const send: Tools['fetch'] = async (input, init) =>
    app.fetch(new Request(input, init), { address: '192.0.2.1' });
  const report = await examine(
    {
      client,
      issuer,
      secrets,
      ttlSeconds,
      callbackUrl: `${demo}/callback`,
      loginUrl: `${demo}/login`,
      eventsUrl: `${demo}/events`,
    },
    { fetch: send, now: () => new Date() },
  );
  expect(report.findings).toEqual([]);
  expect(report.unseen).toEqual([]);
  expect(report).toMatchObject({ verdict: 'right', holdsSecrets: [1] });
});
