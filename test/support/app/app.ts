// The real service on a database of its own, as its users see it: a Request in, a Response out.

import { sql } from 'kysely';
import { expect, inject, vi } from 'vitest';
import type { Database } from '../../../db/postgres/client.ts';
import { demoPassword, seedDemoUsers } from '../../../server/doors/demo/demo-users.ts';
import { lineOf } from '../../../server/ground/rate-limits.ts';
import { hashPassword } from '../../../server/identity/password/passwords.ts';
import { loadPages, serveBuiltFiles } from '../../../server/instance/build.ts';
import { type Instance, startInstance } from '../../../server/instance/instance.ts';
import type { Fetch, RefuseHeaders } from '../../../server/runtime/listener.ts';
import { type Config, readConfig } from '../../../server/settings/config.ts';
import { cloneDatabase, connect } from '../database/postgres.ts';
import { type LogLine, recordLog } from './log.ts';
import { retryWhileBusy } from './patience.ts';
import { production } from './settings.ts';

export type Answer = { status: number; headers: Headers; text: string };

export type SendOptions = {
  method?: string;
  headers?: Record<string, string>;
  /** A body to post as a form, from our own origin unless a header says otherwise. */
  form?: Record<string, string>;
  /** A body to post as JSON, from our own origin unless a header says otherwise. */
  json?: unknown;
  body?: BodyInit;
  cookie?: string;
  /** The sender's IP address. */
  from?: string;
};

export type TestApp = {
  config: Config;
  /** For preparing and reading rows. But tests check what the service does through `send`. */
  db: Database;
  databaseUrl: string;
  /** What was logged, oldest first. */
  logged: LogLine[];
  /** Sends to a path of the service, or a whole URL. Does not follow redirects. */
  send: (path: string, options?: SendOptions) => Promise<Answer>;
  /** Logs in; returns the `name=value` of the session cookie. */
  login: (email: string, password?: string) => Promise<string>;
  /** Another instance of the service, by default on the same database. */
  startInstance: (options?: AppOptions) => Promise<TestInstance>;
  /** The function that answers requests, for tests that listen on a socket. */
  fetch: Fetch;
  /** The function that answers a request whose headers are too large. */
  refuseHeaders: RefuseHeaders;
  /** The function that answers requests on METRICS_PORT. */
  fetchMetrics: Fetch;
  /** Tells the service that the process is about to stop. */
  drain: () => void;
  close: () => Promise<void>;
};

export type TestInstance = Pick<
  TestApp,
  'config' | 'send' | 'login' | 'fetch' | 'refuseHeaders' | 'fetchMetrics' | 'drain'
>;

export type AppOptions = {
  env?: Record<string, string | undefined>;
  now?: () => Date;
  /** The database to use instead of a fresh one, or the URL of a wire to it (test/support/database/wire.ts). */
  databaseUrl?: string;
  /** The deadline of requests, 20 seconds by default. A busy machine could not keep the deadline that people get. */
  answerWithinMs?: number;
  /** The template of another Postgres than that of the test run. */
  templateUrl?: string;
};

/** Opens the service, by default in local mode with the demo users. Close it in afterAll. */
export async function openApp(options: AppOptions = {}): Promise<TestApp> {
  const { url, drop } = await cloneDatabase(options.templateUrl ?? inject('templateUrl'));
  const database = connect(url, { poolSize: 5, keyOf: lineOf });
  const services: Instance[] = [];
  const { log, logged } = recordLog();

  async function start({ env, now, databaseUrl, answerWithinMs = 20_000 }: AppOptions) {
    const config = readConfig(env ?? {});
    const service = await startInstance({
      config,
      databaseUrl: databaseUrl ?? url,
      now,
      answerWithinMs,
      log,
      shell: { pages: await loadPages(), staticFiles: serveBuiltFiles() },
    });
    services.push(service);
    const send = buildSend(service, config);
    const { fetch, refuseHeaders, fetchMetrics, drain } = service;
    return { config, send, login: buildLogin(send), fetch, refuseHeaders, fetchMetrics, drain };
  }

  const first = await start(options);
  return {
    ...first,
    db: database.db,
    databaseUrl: url,
    logged,
    startInstance: (more) => start({ ...options, ...more }),
    async close() {
      await Promise.all(services.map((service) => service.close()));
      await database.close();
      await drop();
    },
  };
}

/** Ends the connections of all instances to the database, because only new connections get the database's changed settings. */
export async function reconnect({ db, send }: TestApp): Promise<void> {
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(db);
  await vi.waitFor(async () => expect((await send('/readyz')).status).toBe(200), 15_000);
}

/**
 * Opens the service in production mode, but with the demo users. This works because the service looks for demo users only at
 * the start of a process.
 */
export async function openProductionApp(env: Record<string, string> = {}): Promise<TestApp> {
  const app = await openApp({ env: { ...production, ...env } });
  await seedDemoUsers(app.db, await hashPassword(demoPassword), new Date());
  return app;
}

function buildSend(service: Instance, config: Config): TestApp['send'] {
  return async (path, options = {}) => {
    const headers = new Headers(options.headers);
    const body =
      options.body ??
      (options.form && new URLSearchParams(options.form)) ??
      (options.json !== undefined ? JSON.stringify(options.json) : undefined);
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    if (options.json !== undefined && !headers.has('content-type'))
      headers.set('content-type', 'application/json');
    const isChange = method !== 'GET' && method !== 'HEAD';
    if (isChange && !headers.has('origin') && !headers.has('sec-fetch-site'))
      headers.set('origin', config.baseUrl);
    if (options.cookie) headers.set('cookie', options.cookie);
    const init = { method, headers, body, duplex: 'half' } as RequestInit;
    const request = new Request(new URL(path, config.baseUrl), init);
    const response = await service.fetch(request, { address: options.from ?? '192.0.2.1' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

function buildLogin(send: TestApp['send']): TestApp['login'] {
  return async (email, password = demoPassword) => {
    const { status, headers, text } = await retryWhileBusy(() =>
      send('/login', { form: { email, password } }),
    );
    const cookie = headers.get('set-cookie')?.split(';')[0];
    if (status !== 303 || !cookie)
      throw new Error(`login of ${email} answered ${status}: ${text.slice(0, 200)}`);
    return cookie;
  };
}

/** Returns the target of a redirect. */
export function locationOf(answer: Answer): URL {
  return new URL(answer.headers.get('location') ?? '', 'http://localhost:3000');
}

/** The target of the answer to a form. If that is the page /go, the result is its `next` (contract 11.33). */
export function targetOf(answer: Answer): URL {
  const url = locationOf(answer);
  return url.pathname === '/go' ? new URL(url.searchParams.get('next') ?? '', url) : url;
}

/** The path to which a browser goes next, by a redirect or by the header `Refresh` of /go. */
export function nextStopOf(answer: Answer): string | undefined {
  if (answer.status === 303) return answer.headers.get('location') ?? undefined;
  return /^0; url=(.*)$/.exec(answer.headers.get('refresh') ?? '')?.[1];
}

export function codeOf({ text }: Pick<Answer, 'text'>): string {
  return JSON.parse(text).code;
}

/** Expects that the answer says when to retry, within `maxSeconds`. */
export function expectRetryAfter({ headers }: Pick<Answer, 'headers'>, maxSeconds: number): void {
  const seconds = headers.get('retry-after');
  expect(seconds).toMatch(/^[1-9]\d*$/);
  expect(Number(seconds)).toBeLessThanOrEqual(maxSeconds);
}
