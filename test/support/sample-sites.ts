// The clients that docs/integrate.md has its readers build, as sites that a test can visit.
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findFreePort } from './process.ts';
import { importSample } from './run-sample.ts';
import { clientSample, phpVerifierSample, pluginSample, verifierSample } from './samples.ts';

export type SampleSite = {
  callbackUrl: string;
  /** The path of its login link. */
  login: string;
  /** Asks the site itself. Redirects are not followed. Its start page says the address of who is logged in, or `nobody`. */
  fetch: (path: string, headers: Record<string, string>, method: string) => Promise<Response>;
  /** Takes hand-offs that are signed with any of these. */
  holdSecrets: (secrets: string[]) => Promise<void>;
  countNonces: () => Promise<number>;
  /** The reasons of refusals since the last call. */
  readLog: () => Promise<string[]>;
  close: () => Promise<void>;
};

type Settings = { issuer: string; client: string };

export async function openJavaScriptSite(settings: Settings): Promise<SampleSite> {
  const { startLogin, handleCallback } = await importSample(clientSample, {
    './verify-hand-off.mjs': verifierSample,
  });
  const origin = 'https://shop.localhost';
  const nonces = new Set<string>();
  const sessions = new Map<string, string>();
  const logged: string[] = [];
  let held: string[] = [];
  const findSession = ({ headers }: Request) =>
    sessions.get(/__Host-session=([^;]+)/.exec(headers.get('cookie') ?? '')?.[1] ?? '');
  return {
    callbackUrl: `${origin}/sso/callback`,
    login: '/login',
    async fetch(path, headers, method) {
      const request = new Request(origin + path, { method, headers });
      const { pathname } = new URL(request.url);
      if (pathname === '/login') return startLogin(request, settings);
      if (pathname !== '/sso/callback') return new Response(findSession(request) ?? 'nobody');
      return handleCallback(request, {
        ...settings,
        secrets: held,
        consumeNonce: async (nonce: string) => nonces.size < nonces.add(nonce).size,
        isLoggedIn: (incoming: Request) => findSession(incoming) !== undefined,
        startSession: async ({ profile }: { profile: { email: string } }) => {
          const id = crypto.randomUUID();
          sessions.set(id, profile.email);
          return id;
        },
        log: (line: string) => logged.push(line),
      });
    },
    async holdSecrets(secrets) {
      held = secrets;
    },
    countNonces: async () => nonces.size,
    readLog: async () => logged.splice(0),
    close: async () => {},
  };
}

/** Needs PHP. The plugin, in what test/support/wordpress.php has of WordPress. */
export async function openWordPressSite({
  issuer,
  client,
}: Settings): Promise<SampleSite & { users: string }> {
  const folder = await mkdtemp(join(tmpdir(), 'identity-sample-'));
  await mkdir(join(folder, 'nonces'));
  for (const name of ['secrets', 'log']) await writeFile(join(folder, name), '');
  await writeFile(join(folder, 'users.json'), '[]');
  await writeFile(join(folder, 'identity.php'), pluginSample);
  await writeFile(join(folder, 'verify-hand-off.php'), phpVerifierSample);
  const port = await findFreePort();
  const origin = `http://127.0.0.1:${port}`;
  const router = fileURLToPath(new URL('wordpress.php', import.meta.url));
  const env = { DATA: folder, IDENTITY_URL: issuer, IDENTITY_CLIENT: client, PHP_CLI_SERVER_WORKERS: '4' };
  // In a process group of its own, which ends its workers too.
  const child = spawn('php', ['-S', `127.0.0.1:${port}`, router], {
    env: { ...process.env, ...env },
    stdio: 'ignore',
    detached: true,
  });
  const exited = new Promise((done) => child.once('close', done));
  while (!(await fetch(origin).catch(() => undefined))) {
    if (child.exitCode !== null) throw new Error('the web server of PHP did not start');
    await new Promise((done) => setTimeout(done, 50));
  }
  return {
    /** The file of its users. */
    users: join(folder, 'users.json'),
    callbackUrl: `${origin}/wp-login.php?action=identity_callback`,
    login: '/wp-login.php?action=identity_login',
    fetch: (path, headers, method) => fetch(origin + path, { headers, method, redirect: 'manual' }),
    holdSecrets: (secrets) => writeFile(join(folder, 'secrets'), secrets.join(',')),
    countNonces: async () => (await readdir(join(folder, 'nonces'))).length,
    async readLog() {
      const lines = (await readFile(join(folder, 'log'), 'utf8')).split('\n').slice(0, -1);
      await writeFile(join(folder, 'log'), '');
      return lines.map((line) => line.replace(/^\[.*?\] /, '').replace(/^H/, 'h'));
    },
    async close() {
      if (child.pid) process.kill(-child.pid);
      await exited;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** A browser at that site, with its cookies. Requests at once set their cookies one after another. */
export function openBrowser(site: SampleSite) {
  const cookies = new Map<string, string>();
  return {
    cookies,
    async go(path: string, options: { method?: string; headers?: Record<string, string> } = {}) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
      const response = await site.fetch(path, { cookie, ...options.headers }, options.method ?? 'GET');
      const set = response.headers.getSetCookie();
      for (const text of set) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(text) ?? [];
        if (/; Max-Age=0(;|$)/i.test(text)) cookies.delete(name);
        else cookies.set(name, value);
      }
      const { status, headers } = response;
      return { status, location: headers.get('location'), set, text: await response.text() };
    },
  };
}
