// Compares the sums of hours with a count of answers and arrived mails, while instances are killed (contract 12.100 to 12.103).
import { expect, inject, it } from 'vitest';
import { listSumsSince } from '../../db/tables/sums-of-hours.ts';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { readConfig } from '../../server/settings/config.ts';
import { findFreePort, type RunningProcess, startService } from '../support/app/process.ts';
import { buildSignup, freshWebhookId, signMessage } from '../support/crm/crm.ts';
import { cloneDatabase, connect } from '../support/database/postgres.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { startMailServer } from '../support/people/mail-server.ts';

const kills = byForm({ short: 1, long: 12 });
const instanceCount = 3;
/**
 * An instance adds its counts to the sums every ten seconds, and a little later on a busy machine. A kill loses the counts of
 * that time.
 */
const lostMs = 15_000;

const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));

type Answered = { key: string; instance: number; at: number };

const login = (result: string) => `identity_logins_total{result="${result}"}`;
const launch = (client: string, outcome: string) =>
  `identity_launches_total{client="${client}",outcome="${outcome}"}`;
const refusal = (code: string, client: string) =>
  `identity_refusals_total{code="${code}",client="${client}"}`;
const created = 'identity_signups_total{result="created"}';
const sent = 'identity_mails_total{result="sent"}';

it('say what the answers and the mails say, while instances are killed', {
  timeout: 900_000,
}, async () => {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const mailServer = await startMailServer();
  const env = {
    DATABASE_URL: url,
    TRUSTED_PROXIES: 'loopback',
    SMTP_URL: mailServer.url,
    MAIL_FROM: 'Identity <no-reply@example.test>',
    SHUTDOWN_DELAY_SECONDS: '0',
  };
  const ports = await Promise.all(Array.from({ length: instanceCount }, findFreePort));
  const start = (port: number) => startService('node', port, env);
  const services: RunningProcess[] = [];
  for (const port of ports) services.push(await start(port));

  const answered: Answered[] = [];
  /** Requests that may or may not have been counted. */
  const unknown: string[] = [];
  let isOver = false;
  let serial = 0;
  const ask = async (
    instance: number,
    path: string,
    keyOf: (status: number) => string,
    init: RequestInit = {},
  ) => {
    const base = `http://localhost:${ports[instance]}`;
    const from = `10.${++serial % 250}.${Math.floor(serial / 250) % 250}.1`;
    try {
      const response = await fetch(base + path, {
        ...init,
        headers: { origin: base, 'x-forwarded-for': from, ...init.headers },
        redirect: 'manual',
        signal: AbortSignal.timeout(15_000),
      });
      await response.text();
      answered.push({ key: keyOf(response.status), instance, at: Date.now() });
      return response;
    } catch {
      unknown.push(...new Set([200, 303, 401, 201].map(keyOf)));
      return undefined;
    }
  };
  const secret = readConfig({ PORT: `${ports[0]}` }).crmSignupsSecrets?.[0] ?? '';
  const use = async (instance: number) => {
    while (!isOver) {
      const logIn = (email: string, password: string) =>
        ask(
          instance,
          '/login',
          (status) =>
            status === 303
              ? login('ok')
              : status === 401 || status === 422
                ? login('wrong_password')
                : `login ${status}`,
          {
            method: 'POST',
            body: new URLSearchParams({ email, password }),
          },
        );
      const loggedIn = await logIn('merchant@example.test', demoPassword);
      const cookie =
        loggedIn?.headers
          .getSetCookie()
          .find((each) => each.startsWith('identity_session='))
          ?.split(';')[0] ?? '';
      if (cookie)
        await ask(
          instance,
          '/sso/launch/crm_app',
          (status) => (status === 303 ? launch('crm_app', 'payload') : `launch ${status}`),
          {
            headers: { cookie },
          },
        );
      await ask(instance, '/sso/launch/marketplace', (status) =>
        status === 303 ? launch('marketplace', 'login') : `launch ${status}`,
      );
      await ask(instance, '/sso/launch/nobody', (status) =>
        status === 404 || status < 400 ? refusal('unknown_client', 'no-client') : `nobody ${status}`,
      );
      await ask(instance, '/integrations/crm/contracts', (status) =>
        status === 401 ? refusal('invalid_token', 'crm_app') : `contracts ${status}`,
      );
      await logIn(`nobody-${serial}@example.test`, 'wrong');
      const body = JSON.stringify(buildSignup(`sums-${instance}-${serial}`));
      await ask(
        instance,
        '/integrations/crm/signups',
        (status) => (status === 201 ? created : `signup ${status}`),
        {
          method: 'POST',
          body,
          headers: signMessage(secret, body, { webhookId: freshWebhookId() }),
        },
      );
      await pause(20);
    }
  };
  const using = ports.map((_, instance) => use(instance));

  const arrivals: { at: number; count: number }[] = [];
  const noting = setInterval(() => arrivals.push({ at: Date.now(), count: mailServer.received.length }), 100);
  const killedAt: { instance: number; at: number }[] = [];
  try {
    for (let kill = 0; kill < kills; kill++) {
      await pause(12_000 + Math.random() * 3_000);
      const instance = kill % (instanceCount - 1);
      services[instance]?.child.kill('SIGKILL');
      await services[instance]?.exited;
      killedAt.push({ instance, at: Date.now() });
      services[instance] = await start(ports[instance] ?? 0);
    }
    await pause(1_000);
  } finally {
    isOver = true;
    clearInterval(noting);
    await Promise.all(using);
    // Waits for mails that are under way, so that the service counts them.
    await pause(4_000);
    for (const { child } of services) child.kill('SIGTERM');
    await Promise.all(services.map(({ exited }) => exited));
  }
  const mails = mailServer.received.length;
  await mailServer.close();

  const client = connect(url);
  const names = ['logins', 'launches', 'refusals', 'signups', 'mails'].map(
    (name) => `identity_${name}_total`,
  );
  const sums = new Map(
    (await listSumsSince(client.db, { since: new Date(0), now: new Date(), names })).map(({ key, count }) => [
      key,
      count,
    ]),
  );
  await client.close();
  await drop();

  const isMissed = ({ instance, at }: Answered) =>
    killedAt.some((kill) => kill.instance === instance && at <= kill.at && at > kill.at - lostMs);
  const figures: Record<string, number> = {};
  for (const key of [
    ...[login('ok'), login('wrong_password'), launch('crm_app', 'payload'), launch('marketplace', 'login')],
    ...[refusal('unknown_client', 'no-client'), refusal('invalid_token', 'crm_app'), created],
  ]) {
    const seen = answered.filter((each) => each.key === key);
    const sum = sums.get(key) ?? 0;
    figures[`${key} seen`] = seen.length;
    figures[`${key} summed`] = sum;
    expect(seen.length, key).toBeGreaterThan(10);
    expect(sum, key).toBeGreaterThanOrEqual(seen.filter((each) => !isMissed(each)).length);
    expect(sum, key).toBeLessThanOrEqual(seen.length + unknown.filter((each) => each === key).length);
  }
  figures['mails arrived'] = mails;
  figures['mails summed'] = sums.get(sent) ?? 0;
  expect(mails).toBeGreaterThan(10);
  expect(sums.get(sent) ?? 0).toBeLessThanOrEqual(mails);
  // Each instance sends mails of all instances. So a kill loses the counts of at most those mails that arrived in the seconds
  // before it.
  const arrivedBy = (at: number) => arrivals.findLast((each) => each.at <= at)?.count ?? 0;
  const late = killedAt.reduce((all, { at }) => all + arrivedBy(at) - arrivedBy(at - lostMs), 0);
  expect(sums.get(sent) ?? 0).toBeGreaterThanOrEqual(mails - late - killedAt.length);
  noteFigures(`sums with ${kills} kills`, figures);
});
