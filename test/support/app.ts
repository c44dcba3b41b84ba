// The real service on a database of its own, as the outside meets it: a Request in, a Response out.
import { inject } from 'vitest';
import { type Database, openDatabase } from '../../db/client.ts';
import { demoPassword } from '../../db/seed.ts';
import { type Config, readConfig } from '../../server/config.ts';
import { loadPages, serveBuiltFiles } from '../../server/runtime/build.ts';
import { type Service, startService } from '../../server/service.ts';
import type { Fetch } from '../../server/shell.ts';
import { cloneDatabase } from './postgres.ts';

export type Answer = { status: number; headers: Headers; text: string };

export type SendOptions = {
  method?: string;
  headers?: Record<string, string>;
  /** Posted as a form, from our own origin unless a header says otherwise. */
  form?: Record<string, string>;
  /** Posted as JSON, likewise. */
  json?: unknown;
  body?: BodyInit;
  cookie?: string;
  /** The peer's address. */
  from?: string;
};

export type TestApp = {
  config: Config;
  /** For arranging and looking at rows; the behaviour goes through `send`. */
  db: Database;
  databaseUrl: string;
  /** What was logged, oldest first. */
  logged: { level: 'info' | 'error'; fields: Record<string, unknown>; message: string }[];
  /** A path of the service, or a whole URL. Redirects are not followed. */
  send: (path: string, options?: SendOptions) => Promise<Answer>;
  /** The `name=value` of a fresh session's cookie. */
  login: (email: string, password?: string) => Promise<string>;
  /** Another instance of the service, on the same database unless told. */
  startInstance: (options?: AppOptions) => Promise<TestInstance>;
  /** What a listener is given, for tests of what only a socket can send. */
  fetch: Fetch;
  /** The process is to stop. */
  drain: () => void;
  close: () => Promise<void>;
};

export type TestInstance = Pick<TestApp, 'config' | 'send' | 'login' | 'fetch' | 'drain'>;

export type AppOptions = {
  env?: Record<string, string>;
  now?: () => Date;
  /** Another database than the fresh one, or another way to it. */
  databaseUrl?: string;
};

/** Local mode with the demo users, unless `env` says otherwise. Close it in afterAll. */
export async function openApp(options: AppOptions = {}): Promise<TestApp> {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const database = openDatabase({ url, poolSize: 5, preparedStatements: true, onError: () => undefined });
  const services: Service[] = [];
  const logged: TestApp['logged'] = [];

  async function start({ env, now, databaseUrl }: AppOptions) {
    const config = readConfig(env ?? {});
    const service = await startService({
      config,
      databaseUrl: databaseUrl ?? url,
      now,
      log: {
        info: (fields, message) => logged.push({ level: 'info', fields: { ...fields }, message }),
        error: (fields, message) => logged.push({ level: 'error', fields: { ...fields }, message }),
      },
      shell: { pages: await loadPages(), staticFiles: serveBuiltFiles() },
    });
    services.push(service);
    const send = buildSend(service, config);
    const { fetch, drain } = service;
    return { config, send, login: buildLogin(send), fetch, drain };
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

function buildSend(service: Service, config: Config): TestApp['send'] {
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
    const request = new Request(new URL(path, config.baseUrl), { method, headers, body });
    const response = await service.fetch(request, { address: options.from ?? '192.0.2.1' });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}

function buildLogin(send: TestApp['send']): TestApp['login'] {
  return async (email, password = demoPassword) => {
    const { status, headers, text } = await send('/login', { form: { email, password } });
    const cookie = headers.get('set-cookie')?.split(';')[0];
    if (status !== 303 || !cookie)
      throw new Error(`login of ${email} answered ${status}: ${text.slice(0, 200)}`);
    return cookie;
  };
}

/** The Location of a redirect, as a URL. */
export function locationOf(answer: Answer): URL {
  return new URL(answer.headers.get('location') ?? '', 'http://localhost:3000');
}
