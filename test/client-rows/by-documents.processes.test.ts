// Follows the documents on what happens to clients in the database: when the database is copied, when it is restored
// (docs/operate/backups.md), and when the encryption key is rotated (docs/operate/secrets.md).
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { sign } from '../../server/sso/hmac.ts';
import { codeOf, locationOf, openApp, type TestApp, type TestInstance } from '../support/app/app.ts';
import { runCli } from '../support/app/cli.ts';
import { production } from '../support/app/settings.ts';
import { backUpDatabase } from '../support/database/postgres.ts';
import { answers, type NudgeTarget, openTarget, takes } from '../support/events/nudge-target.ts';
import { addPerson, addSession } from '../support/people/staff.ts';

const callback = 'http://localhost:4000/cb';
const why = ['--why', 'by the documents'];

const apps: TestApp[] = [];
async function open(options?: Parameters<typeof openApp>[0]): Promise<TestApp> {
  const app = await openApp(options);
  apps.push(app);
  return app;
}
let target: NudgeTarget;
beforeAll(async () => {
  target = await openTarget(takes);
});
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await target.close();
});

type Run = (...args: string[]) => Promise<string>;
const cliOf =
  (
    databaseUrl: string,
    nodeEnv: 'test' | 'production' = 'test',
    settings: Record<string, string> = {},
  ): Run =>
  async (...args) => {
    const { code, out, err } = await runCli(databaseUrl, args, '', nodeEnv, settings);
    expect([code, err], args.join(' ')).toEqual([0, '']);
    return out;
  };
const secretIn = (out: string): string => JSON.parse(out).secret;

type At = Pick<TestInstance, 'send'>;

/** Returns the parameters with which the launch redirects to the callback, or the code of the refusal. */
async function launch({ send }: At, name: string, cookie: string): Promise<URLSearchParams | string> {
  const answer = await send(`/sso/launch/${name}`, { cookie });
  return answer.status === 303 ? locationOf(answer).searchParams : codeOf(answer);
}

/** Checks that the launch is signed with each of these secrets, in this order. */
async function expectSigned(at: At, name: string, cookie: string, ...secrets: string[]): Promise<void> {
  const found = await launch(at, name, cookie);
  if (typeof found === 'string') throw new Error(`${name}: ${found}`);
  const payload = found.get('payload') ?? '';
  const wanted = await Promise.all(secrets.map((secret) => sign(secret, payload)));
  expect([found.get('signature'), found.get('signature_next')].filter(Boolean)).toEqual(wanted);
}

async function readEvents({ send }: At, name: string, secret: string): Promise<number> {
  const token = await sign(secret, `identity events v1 ${name}`);
  return (await send('/sso/events', { headers: { authorization: `Bearer ${token}` } })).status;
}

/** Every instance follows within two seconds; a busy machine gets a few more. */
const followed = (work: () => Promise<void>) => vi.waitFor(work, { timeout: 8_000, interval: 100 });

it('a copy under another issuer signs nothing, sends nothing and shows nothing (contract 13.4)', async () => {
  const app = await open();
  const cli = cliOf(app.databaseUrl);
  target.answering = answers(500);
  const added = [
    'client:add',
    'copied',
    '--callback',
    callback,
    '--events-url',
    target.url,
    '--json',
    ...why,
  ];
  const secret = secretIn(await cli(...added));
  const person = await addPerson(app);
  const [stays, leaves] = [await addSession(app, person.id), await addSession(app, person.id)];
  for (const { cookie } of [stays, leaves]) await followed(() => expectSigned(app, 'copied', cookie, secret));
  // The client should learn of this log-out, but its server does not accept the webhook. So the backup has an event that waits
  // for the client.
  await app.send('/logout', { cookie: leaves.cookie, form: {} });
  await vi.waitFor(() => expect(target.received.length).toBeGreaterThan(0), { timeout: 15_000 });
  app.drain();
  await sleep(1_000);
  await backUpDatabase(app.databaseUrl);
  const url = new URL(app.databaseUrl);
  url.pathname += '_backup';
  target.received.length = 0;
  target.answering = takes;

  const elsewhere = await app.startInstance({ databaseUrl: url.href, env: { PORT: '3999' } });
  expect(await launch(elsewhere, 'copied', stays.cookie)).toBe('unknown_client');
  expect(await readEvents(elsewhere, 'copied', secret)).toBe(401);
  await elsewhere.send('/logout', { cookie: stays.cookie, form: {} });
  await sleep(6_000);
  expect(target.received).toEqual([]);
  const listed = await cliOf(url.href, 'test', { PORT: '3999' })('clients', '--json');
  expect(JSON.parse(listed).map(({ client }: { client: string }) => client)).not.toContain('copied');

  // With the issuer of the original, the copy answers the client and sends the webhook.
  const same = await app.startInstance({ databaseUrl: url.href });
  expect(await readEvents(same, 'copied', secret)).toBe(200);
  await vi.waitFor(() => expect(target.received.length).toBeGreaterThan(0), { timeout: 30_000 });
});

it('after a restore of a backup, each client waits until it is confirmed, with what the documents say (contract 13.10)', async () => {
  const app = await open();
  const cli = cliOf(app.databaseUrl);
  const add = async (name: string) =>
    secretIn(await cli('client:add', name, '--callback', callback, '--json', ...why));
  const secrets = { kept: await add('kept'), closed: await add('closed'), leaked: await add('leaked') };
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  await followed(() => expectSigned(app, 'leaked', cookie, secrets.leaked));
  const backup = await backUpDatabase(app.databaseUrl);

  await cli('client:off', 'closed', ...why);
  const lost = secretIn(await cli('client:rotate', 'leaked', '--json', ...why));
  await cli('client:end-secret', 'leaked', 'first', ...why);
  const gone = await add('gone');
  await backup.restore();
  await cli('database:restored', '--last-invoice', '0');
  const instances = [await app.startInstance(), await app.startInstance()] as const;
  // The command has ended all sessions, so the test starts another one.
  const { cookie: now } = await addSession(app, (await addPerson(app)).id);

  for (const at of instances) {
    for (const name of ['kept', 'closed', 'leaked', 'gone'])
      expect([name, await launch(at, name, now)]).toEqual([name, 'unknown_client']);
    for (const [name, secret] of [...Object.entries(secrets), ['leaked', lost], ['gone', gone]])
      expect(await readEvents(at, name ?? '', secret ?? '')).toBe(401);
    expect(await launch(at, 'marketplace', now)).toBeInstanceOf(URLSearchParams);
  }
  const shown = JSON.parse(await cli('clients', '--json')).filter(({ row }: { row: unknown }) => row);
  expect(
    shown.map(({ client, row }: { client: string; row: { state: string } }) => [client, row.state]),
  ).toEqual(['closed', 'kept', 'leaked'].map((name) => [name, 'unconfirmed']));
  expect(shown[0].row.secrets[0].made_at).toMatch(/^\d{4}-/);

  // Confirms the client that is as it should be. The restore has undone that another client was closed, so the test closes that
  // client before it confirms it.
  await cli('client:confirm', 'kept', ...why);
  await cli('client:off', 'closed', ...why);
  await cli('client:confirm', 'closed', ...why);
  // The restore has brought back the secret that was ended after the backup. The test ends it before it confirms the client.
  const next = secretIn(await cli('client:rotate', 'leaked', '--json', ...why));
  await cli('client:end-secret', 'leaked', 'first', ...why);
  await cli('client:confirm', 'leaked', ...why);
  for (const at of instances) {
    await followed(() => expectSigned(at, 'kept', now, secrets.kept));
    await followed(() => expectSigned(at, 'leaked', now, next));
    expect(await launch(at, 'closed', now)).toBe('unknown_client');
    expect(await readEvents(at, 'leaked', secrets.leaked)).toBe(401);
    expect(await readEvents(at, 'closed', secrets.closed)).toBe(401);
    // After a restore, the positions of clients in their events are not valid.
    expect(await readEvents(at, 'kept', secrets.kept)).toBe(410);
  }
});

it('while the encryption key is rotated, no client is refused, and in the end nothing needs the old key (contract 13.26)', async () => {
  const old = production.IDENTITY_ENCRYPTION_KEY ?? '';
  const fresh = '09XvpblbwjQDcvVKHhqQW2n02rczeIvpyw9Ccox9K4U=';
  const settings = (key: string) =>
    ({ ...production, IDENTITY_ENCRYPTION_KEY: key }) as Record<string, string>;
  const app = await open({ env: production });
  const cli = (key: string) => cliOf(app.databaseUrl, 'production', settings(key));
  const place = ['--callback', 'https://shop.example.test/cb', '--json', ...why];
  const { cookie } = await addSession(app, (await addPerson(app)).id);
  const secrets: Record<string, string[]> = {};
  const add = async (name: string, key: string) => {
    secrets[name] = [secretIn(await cli(key)('client:add', name, ...place))];
  };
  await add('shop', old);
  await add('kiosk', old);
  secrets.kiosk?.push(secretIn(await cli(old)('client:rotate', 'kiosk', '--json', ...why)));

  let running: TestInstance[] = [app, await app.startInstance()];
  const expectAll = async () => {
    for (const at of running)
      for (const [name, ofClient] of Object.entries(secrets))
        await followed(() => expectSigned(at, name, cookie, ...ofClient));
  };
  await expectAll();
  /** Replaces one instance after the other. In between, one instance has the old setting and one the new. */
  const restartWith = async (key: string) => {
    for (let nth = 0; nth < 2; nth++) {
      running.push(await app.startInstance({ env: settings(key) }));
      await expectAll();
      running[0]?.drain();
      running = running.slice(1);
    }
  };
  await restartWith(`${old},${fresh}`);
  await add('added_meanwhile', `${old},${fresh}`);
  await expectAll();
  const listOlder = async (key: string) =>
    JSON.parse(await cli(key)('clients', '--json')).flatMap(
      ({
        client,
        row,
      }: {
        client: string;
        row: null | { secrets: { is_sealed_with_older_key: boolean }[] };
      }) => (row?.secrets.some(({ is_sealed_with_older_key: isOlder }) => isOlder) ? [client] : []),
    );
  const both = `${fresh},${old}`;
  await restartWith(both);
  await vi.waitFor(async () => expect(await listOlder(both)).toEqual([]), { timeout: 30_000 });
  const said = 'no secret of a client is sealed with an older key';
  await vi.waitFor(() => expect(app.logged.map(({ message }) => message)).toContain(said));
  await restartWith(fresh);
  await expectAll();
  expect(await listOlder(fresh)).toEqual([]);
});
