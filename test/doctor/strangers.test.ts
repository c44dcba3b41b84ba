// The doctor at clients whose engineers had not read the doctor's code (test/doctor/strangers).
import { afterAll, beforeAll, expect, it } from 'vitest';
import { examine } from '../../clients/doctor/examine.ts';
import { listDeliveries } from '../../db/tables/event-deliveries.ts';
import { createEventWriter } from '../../server/doors/cli/doctor-events.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { faultsOf } from './harness/broken.ts';
import { settings, targetOf } from './harness/clients.ts';
import { openInProcess, passOn, sawOf } from './harness/in-process.ts';
import { createStrangers, strangers } from './strangers/strangers.ts';

/** This client reads events so late that the doctor cannot see what the client does with them. */
const unsure = ['s24'];

const { listen, close } = openInProcess();
const secretOf = (client: string) => `the-secret-of-${client}-which-is-its-own`;

let app: TestApp;
let issuer = '';
beforeAll(async () => {
  issuer = await listen(passOn(() => app));
  const own = strangers.flatMap(({ name }) => [
    [`SSO_${name.toUpperCase()}_CALLBACK_URL`, 'http://localhost:9/callback'],
    [`SSO_${name.toUpperCase()}_SECRET`, secretOf(name)],
  ]);
  const names = strangers.map(({ name }) => name).join();
  app = await openApp({ env: { IDENTITY_ISSUER: issuer, ...Object.fromEntries(own), SSO_CLIENTS: names } });
});
afterAll(async () => {
  await app?.close();
  await close();
});

async function examineStranger(client: string) {
  const secrets = [secretOf(client)];
  const site = createStrangers({ ...settings, issuer, client, secrets, serviceUrl: issuer });
  const base = await listen(site);
  const report = await examine(
    { ...targetOf(base, client), issuer, client, secrets },
    {
      fetch,
      now: () => new Date(),
      findReads: async () => (await listDeliveries(app.db, [client]))[0] ?? '',
      events: createEventWriter(app.db, client),
    },
  );
  site.close();
  return report;
}

/** On a busy machine, a client sometimes needs more than two seconds to read after a nudge. */
const patiently = { retry: 2 };

it.each(strangers.filter(({ isRight }) => isRight))('lets $name be: $fault', patiently, async ({ name }) => {
  const report = await examineStranger(name);
  expect(faultsOf(report), sawOf(report)).toEqual([]);
});

it.each(strangers.filter(({ isRight }) => !isRight))('finds $name: $fault', patiently, async ({ name }) => {
  const { verdict } = await examineStranger(name);
  expect(verdict).toBe(unsure.includes(name) ? 'not_sure' : 'wrong');
});
