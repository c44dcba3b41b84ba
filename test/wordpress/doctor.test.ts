// The doctor examines the plugin, as an operator does before the site's owner tells people to log in.
import { beforeAll, expect, test } from 'vitest';
import { runDoctor } from '../doctor/harness/run-doctor.ts';
import { shared } from '../support/run/shared.ts';
import { choose, openPair, secret, setUp } from './pair.ts';

const pair = shared(openPair);
beforeAll(() => setUp(pair));

/** Runs the doctor with the settings of the service. */
function examine(...args: string[]) {
  const base = `${pair.wordpress.url}/sso/identity`;
  return runDoctor(['network_site', '--json', ...args], {
    IDENTITY_ISSUER: pair.site.baseUrl,
    SSO_WEBSITE_CALLBACK_URL: `${base}/callback`,
    SSO_WEBSITE_LOGIN_URL: `${base}/login`,
    SSO_WEBSITE_EVENTS_URL: `${base}/events`,
    SSO_WEBSITE_SECRET: secret,
    DATABASE_URL: pair.site.app.databaseUrl,
  });
}

test('it finds nothing wrong', async () => {
  const { code, out, err } = await examine();
  const report = JSON.parse(out);
  expect(report, err).toMatchObject({ verdict: 'right', holds_secrets: [1], findings: [] });
  // The plugin's pages show no role, but WordPress sometimes adds something to a page that looks like one.
  const unseen = report.unseen.map(({ id }: { id: string }) => id);
  expect(unseen.filter((id: string) => id !== 'role_kept')).toEqual([]);
  expect(code).toBe(0);
  // The plugin does not take the doctor's nudges for nudges of the service.
  expect(await pair.wordpress.php(`return get_option('identity_login_called');`)).toBe(false);
});

test('it finds nothing wrong in what the plugin does with events', async () => {
  const { code, out, err } = await examine('--events');
  expect(JSON.parse(out), err).toMatchObject({ verdict: 'right', findings: [], with_events: true });
  expect(code).toBe(0);
});

test.each([
  ['secrets', "['another secret than the operator has']", 'secret_wrong', 'does not hold the secret'],
  ['ttl', '60', 'genuine_refused', 'lifetime_wrong'],
])('it says what is wrong with another setting of %s', async (setting, php, id, words) => {
  await choose(pair, setting, php);
  const outcome = await examine();
  await setUp(pair);
  expect(JSON.parse(outcome.out), outcome.err).toMatchObject({
    verdict: 'wrong',
    findings: [{ id, saw: expect.stringContaining(words) }],
  });
  expect(outcome.code).toBe(1);
});
