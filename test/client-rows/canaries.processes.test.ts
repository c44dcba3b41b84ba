// Only the answer that makes a client's secret shows it (contract 13.21). The secret is not in what a process writes, not even
// when it crashes. Nor is it in a mail, page, header, webhook or metric, or in what pg_dump writes.
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { sql } from 'kysely';
import { expect, inject, it, vi } from 'vitest';
import { sign } from '../../server/sso/hmac.ts';
import { type Outcome, runCli } from '../support/app/cli.ts';
import { entryOf, findFreePort, heap, run, startService } from '../support/app/process.ts';
import { dumpDatabase } from '../support/database/dump.ts';
import { cloneDatabase, connect, makeFolder } from '../support/database/postgres.ts';
import { openTarget, takes } from '../support/events/nudge-target.ts';
import { hasDebianPostgres, startDebianPostgres } from '../support/machines/debian-postgres.ts';
import { startMailServer } from '../support/people/mail-server.ts';

const callback = 'http://localhost:4000/cb';
const why = 'A canary';

/**
 * Uses Debian's Postgres and pg_dump if they are installed. If they are not, a function of the tests writes what pg_dump would.
 */
async function openDatabase(): Promise<{
  url: string;
  dump: () => Promise<string>;
  close: () => Promise<void>;
}> {
  if (!hasDebianPostgres) {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    return { url, dump: () => dumpDatabase(url, ''), close: drop };
  }
  const { url, env, close } = await startDebianPostgres();
  const dump = async () =>
    (
      await promisify(execFile)('/usr/lib/postgresql/15/bin/pg_dump', ['--dbname=identity'], {
        env: env as NodeJS.ProcessEnv,
        maxBuffer: 2 ** 26,
      })
    ).stdout;
  return { url, dump, close };
}

it('is nowhere else, whatever happens to the client, the database and the process', async () => {
  const database = await openDatabase();
  const { db, close } = connect(database.url);
  const [mails, target, folder] = [await startMailServer(), await openTarget(takes), await makeFolder()];
  const [port, metricsPort] = [await findFreePort(), await findFreePort()];
  // An error that nobody catches ends the process while it knows all secrets.
  const crash = join(folder, 'crash.cjs');
  await writeFile(
    crash,
    "process.on('SIGUSR2', () => setImmediate(() => { throw new Error('a crash of the test'); }));",
  );
  const env = {
    ...{ DATABASE_URL: database.url, METRICS_PORT: String(metricsPort), SMTP_URL: `${mails.url}?tls=off` },
    ...{ MAIL_FROM: 'identity@example.test', NODE_OPTIONS: `${heap.NODE_OPTIONS} --require ${crash}` },
  };
  const service = await startService('node', port, env);
  const base = `http://localhost:${port}`;
  /** All texts that must not contain a secret. */
  const texts: string[] = [];
  const secrets: string[] = [];

  type Sent = { cookie?: string; json?: unknown; form?: Record<string, string>; token?: string };
  const ask = async (path: string, { cookie, json, form, token }: Sent = {}, makesSecret = false) => {
    const answer = await fetch(base + path, {
      method: json || form ? 'POST' : 'GET',
      body: form ? new URLSearchParams(form) : json ? JSON.stringify(json) : undefined,
      headers: {
        ...{ origin: base, accept: path.startsWith('/admin') ? 'text/html' : '*/*' },
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(cookie && { cookie }),
        ...(token && { authorization: `Bearer ${token}` }),
      },
      redirect: 'manual',
    });
    const text = await answer.text();
    texts.push(JSON.stringify([...answer.headers]), ...(makesSecret ? [] : [text]));
    return { status: answer.status, headers: answer.headers, text };
  };
  const logIn = async (email: string) =>
    (await ask('/login', { form: { email, password: 'local demo password' } })).headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
  const [admin, customer] = [await logIn('admin@example.test'), await logIn('customer@example.test')];
  const list = async () => {
    const { text } = await ask(`/trpc/admin.clients.list?input=${encodeURIComponent('{}')}`, {
      cookie: admin,
    });
    return JSON.parse(text).result.data.json as { name: string; row: { seen: string } | null }[];
  };
  const act = async (name: string, client: string, more: Record<string, string> = {}) => {
    const seen = (await list()).find((each) => each.name === client)?.row?.seen;
    const makesSecret = ['add', 'rotate'].includes(name);
    const json = { json: { client, why, ...(seen && { seen }), ...more } };
    const { text } = await ask(`/trpc/admin.clients.${name}`, { cookie: admin, json }, makesSecret);
    const { secret } = JSON.parse(text).result?.data?.json ?? {};
    if (secret) secrets.push(secret);
    return text;
  };
  const cli = async (...args: string[]): Promise<Outcome> => {
    const outcome = await runCli(database.url, [...args, '--why', why], '', 'test', { PORT: String(port) });
    texts.push(outcome.err);
    const [made] = /idsec_\S{49}/.exec(outcome.out) ?? [];
    if (made && /^client:(add|rotate)$/.test(args[0] ?? '')) secrets.push(made);
    else texts.push(outcome.out);
    return outcome;
  };

  const addresses = { callback, loginUrl: 'http://localhost:4000/login', eventsUrl: target.url };
  await act('add', 'canary', addresses);
  await act('rotate', 'canary');
  expect(await act('rotate', 'canary')).toContain('two secrets already');
  expect((await cli('client:add', 'canary_2', '--callback', callback, '--events-url', target.url)).code).toBe(
    0,
  );
  await cli('client:rotate', 'canary_2', '--json');
  await cli('client:add', 'canary_2', '--callback', callback);
  expect(new Set(secrets).size).toBe(4);

  for (const name of ['canary', 'canary_2'])
    await vi.waitFor(
      async () => {
        const launched = await ask(`/sso/launch/${name}`, { cookie: customer });
        expect(launched.headers.get('location')).toContain('payload=');
      },
      { timeout: 8_000 },
    );
  for (const [at, secret] of secrets.entries()) {
    const name = at < 2 ? 'canary' : 'canary_2';
    const token = await sign(secret, `identity events v1 ${name}`);
    // The service follows a command within two seconds; a busy machine needs a few more.
    await vi.waitFor(async () => expect((await ask('/sso/events', { token })).status).toBe(200), 8_000);
    expect((await ask('/sso/events', { token: token.replace(/^./, 'x') })).status).toBe(401);
  }
  await act('set', 'canary', { title: 'A canary' });
  expect(await act('testWebhook', 'canary')).toContain('"taken":true');
  await ask('/logout', { cookie: customer, form: {} });
  await vi.waitFor(() => expect(target.received.length).toBeGreaterThan(1), { timeout: 15_000 });
  await act('endSecret', 'canary', { which: 'first' });
  await cli('client:off', 'canary');
  await cli('client:on', 'canary');
  await cli('clients');
  await cli('doctor', 'canary');
  const pages = ['/admin', '/admin/clients', '/admin/audit', '/admin/mails', '/developers', '/openapi.json'];
  for (const page of pages) expect([page, (await ask(page, { cookie: admin })).status]).toEqual([page, 200]);
  await ask('/admin/clients/canary', { cookie: admin });
  texts.push(await (await fetch(`http://localhost:${metricsPort}/metrics`)).text());
  expect(texts.at(-1)).toContain('client="canary"');

  // Dumps the database before the test breaks it.
  const dump = await database.dump();
  expect(dump).toContain('canary_2');
  texts.push(dump);
  await vi.waitFor(() => expect(mails.received).toHaveLength(8), { timeout: 20_000 });
  texts.push(...mails.received.map(({ source }) => source), JSON.stringify(target.received));

  await sql`alter table client_secrets rename column sealed to lost`.execute(db);
  await sql`update client_changes set version = version + 1`.execute(db);
  await act('add', 'canary_3', addresses).catch(() => undefined);
  await cli('client:rotate', 'canary');
  await vi.waitFor(() => expect(service.output()).toContain('clients failed'), { timeout: 10_000 });
  const second = run('node', [entryOf.node], {
    PORT: String(await findFreePort()),
    ...env,
    METRICS_PORT: '',
  });
  await sleep(3_000);
  second.child.kill('SIGKILL');
  await second.exited;
  await sql`alter table client_secrets rename column lost to sealed`.execute(db);
  // Changes a sealed secret so that no key opens it.
  await sql`update client_secrets set sealed = overlay(sealed placing '\\x00000000'::bytea from 14)`.execute(
    db,
  );
  await vi.waitFor(() => expect(service.output()).toContain('no key opens'), { timeout: 10_000 });
  service.child.kill('SIGUSR2');
  expect(await service.exited).not.toBe(0);
  expect(service.output()).toContain('a crash of the test');
  expect(service.output()).toContain('"client":"canary"');
  texts.push(service.output(), second.output());

  for (const secret of secrets) {
    expect(secret).toMatch(/^idsec_[A-Za-z0-9_-]{49}$/);
    const bytes = Buffer.from(secret);
    const forms = [secret, secret.slice(6, 49), bytes.toString('hex'), bytes.toString('base64').slice(0, 64)];
    const random = Buffer.from(secret.slice(6, 49), 'base64url').toString('hex');
    for (const form of [...forms, random])
      for (const text of texts)
        expect(
          text.includes(form),
          `${text.slice(Math.max(0, text.indexOf(form) - 200), text.indexOf(form))}`,
        ).toBe(false);
  }
  await close();
  await Promise.all([mails.close(), target.close(), database.close(), rm(folder, { recursive: true })]);
});
