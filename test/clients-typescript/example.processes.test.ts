// The kit for TypeScript as it is published: plain JavaScript with types, its example and its README.
import { execFile, spawn } from 'node:child_process';
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import process from 'node:process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { buildNudgeSecret } from '../../server/events/nudge-secret.ts';
import vectors from '../sso-vectors.json' with { type: 'json' };
import { commandOf, findFreePort, startService } from '../support/app/process.ts';
import { cookieOf } from '../support/app/visitor.ts';
import { signMessage } from '../support/crm/crm.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { readCodeBlocks, readOurFile } from '../support/project/documents.ts';
import { sharedFolder } from '../support/run/shared.ts';

const run = promisify(execFile);
const kit = 'clients/typescript';
const folder = await sharedFolder();
const closings: (() => unknown)[] = [];
beforeAll(async () => {
  await run(process.execPath, [
    'node_modules/typescript-7/bin/tsc',
    '-p',
    kit,
    '--outDir',
    join(folder, 'dist'),
  ]);
  for (const file of ['package.json', 'example.mjs']) await copyFile(join(kit, file), join(folder, file));
});
afterAll(async () => {
  for (const close of closings.reverse()) await close();
});

const soon = { timeout: 10_000, interval: 100 };

it('the example has 30 lines at most, and lets somebody log in, changes with them and logs them out', async () => {
  expect(readOurFile(`${kit}/example.mjs`).split('\n').length - 1).toBeLessThanOrEqual(30);
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  closings.push(drop);
  const [port, shopPort] = [await findFreePort(), await findFreePort()];
  const [base, shop] = [`http://localhost:${port}`, `http://localhost:${shopPort}`];
  const secret = 'a-secret-that-nobody-else-has-0123456789';
  const service = await startService('node', port, {
    DATABASE_URL: url,
    SSO_CLIENTS: 'shop',
    SSO_SHOP_SECRET: secret,
    SSO_SHOP_CALLBACK_URL: `${shop}/sso/callback`,
    SSO_SHOP_LOGIN_URL: `${shop}/login`,
    SSO_SHOP_EVENTS_URL: `${shop}/sso/events`,
  });
  closings.push(async () => {
    service.child.kill('SIGTERM');
    await service.exited;
  });
  const example = spawn(process.execPath, [join(folder, 'example.mjs')], {
    env: { ...process.env, IDENTITY_URL: base.replace('//', `//shop:${secret}@`), PORT: String(shopPort) },
  });
  const exited = new Promise((done) => example.on('close', done));
  closings.push(async () => {
    example.kill();
    await exited;
  });
  let output = '';
  for (const stream of [example.stdout, example.stderr]) stream.on('data', (chunk) => (output += chunk));
  await expect.poll(() => output, soon).toContain(`Open ${shop}`);

  // The example keeps running after odd requests.
  for (const line of ['GET //', 'TRACE /', 'GET http://evil.example/', 'OPTIONS *']) {
    const socket = connect(shopPort, 'localhost').on('error', () => undefined);
    socket.end(`${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    expect(await text(socket), line).toMatch(/^HTTP\/1\.1 (?:303|400) /);
  }

  const get = (address: string, cookie = '') => fetch(address, { headers: { cookie }, redirect: 'manual' });
  const post = (path: string, form: Record<string, string>, cookie = '') =>
    fetch(base + path, {
      method: 'POST',
      body: new URLSearchParams(form),
      headers: { origin: base, cookie },
      redirect: 'manual',
    });
  const login = await post('/login', {
    email: 'customer@example.test',
    password: 'local demo password',
  });
  const session = cookieOf(login);
  const start = await get(`${shop}/login`);
  const launched = await get(start.headers.get('location') ?? '', session);
  const received = await get(launched.headers.get('location') ?? '', cookieOf(start));
  expect([received.status, received.headers.get('location')], output).toEqual([303, `${shop}/`]);
  const page = async () => (await get(`${shop}/`, cookieOf(received))).text();
  expect(await page()).toContain('<p>Hello, Casey Customer</p>');

  await post('/profile', { intent: 'names', name: 'Carla Changed', accountName: 'Hers' }, session);
  await expect.poll(page, soon).toContain('<p>Hello, Carla Changed</p>');
  await post('/logout', {}, session);
  const statusNow = async () => (await get(`${shop}/`, cookieOf(received))).status;
  await expect.poll(statusNow, { timeout: 2_000, interval: 100 }).toBe(303);
  const again = await get(launched.headers.get('location') ?? '', cookieOf(start));
  expect(again.headers.get('identity-refusal')).toBe('session_ended');
  const id = again.headers.get('identity-launch');
  expect(output).toContain(`{"outcome":"session_ended","launchId":"${id}"`);
  expect(service.output()).toContain(`"launchId":"${id}"`);
});

it('what is handed out runs on Deno, and its types are right for a strict compiler', async () => {
  const use = `import { createIdentityClient, createMemoryStores, type HandOff, launchId } from './dist/index.js';
    const seen: HandOff[] = [];
    const identity = createIdentityClient({
      issuer: 'https://id.example.com',
      client: 'shop',
      secrets: ['x'.repeat(32)],
      callbackUrl: 'https://shop.example.com/callback',
      loginUrl: 'https://shop.example.com/login',
      ...createMemoryStores(),
    });
    const answer: Response = await identity.handleCallback(new Request('https://shop.example.com/callback'), {
      startSession(handOff) {
        seen.push(handOff);
        return {};
      },
      endSession() {},
    });
    console.log(answer.status, seen.length, await launchId('AAECAwQFBgcICQoLDA0ODw'));`;
  const wrong = `
    // @ts-expect-error: a client without a name
    createIdentityClient({ ...createMemoryStores(), issuer: '' });
    import type { IdentityEvent } from './dist/index.js';
    export function narrow(event: IdentityEvent): string {
      if (event.type === 'profile.updated') return event.profile.name + event.user_id;
      if (event.type === 'session.ended') return event.sid + event.occurred_at;
      // @ts-expect-error: the other events have no sid
      return event.sid;
    }`;
  await writeFile(join(folder, 'use.ts'), use);
  await writeFile(join(folder, 'types.ts'), use + wrong);
  const compilerOptions = { noEmit: true, strict: true, module: 'nodenext', target: 'es2022', types: [] };
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['types.ts'] }));
  await run(process.execPath, ['node_modules/typescript-7/bin/tsc', '-p', folder]).catch((error) =>
    expect.unreachable(error.stdout),
  );
  const [command = '', ...flags] = commandOf.deno;
  const { stdout } = await run(command, [...flags, join(folder, 'use.ts')], {
    env: { ...process.env, NO_COLOR: '1' },
  });
  expect(stdout.trim()).toBe(`400 0 ${vectors.sso.launch.id}`);
});

async function readSamples(): Promise<string[]> {
  const blocks = readCodeBlocks({ path: kit, text: await readFile(join(kit, 'README.md'), 'utf8') });
  return blocks
    .filter(({ language }) => language === 'js')
    .map(({ code }) =>
      code.replace(/'identity-client(?:\/(\w+))?'/g, (_, part = 'index') => `'./dist/${part}.js'`),
    );
}

it('what to put into a site does what it says, and its types are right', async () => {
  const samples = await readSamples();
  const find = (part: string) => samples.find((code) => code.includes(part)) ?? '';
  const anywhere = `import { identity } from './identity.js';
    import { orders } from './pages.js';
    ${find('async function answer(')}
    export { answer };`;
  const files = {
    'identity.js': find('export const identity'),
    'site.js': anywhere,
    'on-express.js': find("from 'express'"),
  };
  for (const code of Object.values(files)) expect(code.split('\n').length).toBeLessThanOrEqual(30);
  const types = {
    'database.d.ts': `export declare const pool: {
      query(text: string, params: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
    };`,
    'pages.d.ts': `import type { Profile } from './dist/index.js';
    export declare function home(person: Profile | undefined): string;
    export declare function orders(person: Profile | undefined, token: string | undefined): string;`,
    'express.d.ts': `declare module 'express' {
      type Asked = import('node:http').IncomingMessage & Express.Request;
      type Sent = import('node:http').ServerResponse & { send(text: string): void; set(name: string, value: string): Sent };
      type Handler = (request: Asked, answer: Sent, next: (error?: unknown) => void) => unknown;
      export default function express(): {
        use(middleware: Handler): void;
        get(path: string, guard: Handler, page: Handler): void;
        listen(port: string | undefined): void;
      };
    }`,
  };
  for (const [name, text] of Object.entries({ ...files, ...types }))
    await writeFile(join(folder, name), text);
  const compilerOptions = {
    noEmit: true,
    strict: true,
    noImplicitAny: false,
    checkJs: true,
    module: 'nodenext',
    target: 'es2022',
    lib: ['ES2023', 'DOM', 'DOM.Iterable'],
    types: ['node'],
    typeRoots: [fileURLToPath(new URL('../../node_modules/@types', import.meta.url))],
    skipLibCheck: true,
  };
  const project = join(folder, 'tsconfig.site.json');
  const typed = [...Object.keys(files), 'express.d.ts'];
  await writeFile(project, JSON.stringify({ compilerOptions, files: typed }));
  await run(process.execPath, ['node_modules/typescript-7/bin/tsc', '-p', project]).catch((error) =>
    expect.unreachable(error.stdout),
  );

  const logged: { outcome: string; reason?: string }[] = [];
  const asked: string[] = [];
  let isAway = false;
  const ofTheSite = {
    async query(text: string) {
      if (isAway) throw new Error('the database is away');
      asked.push(text);
      return { rows: [] };
    },
    console: { log: (entry: { outcome: string }) => logged.push(entry) },
    process: {
      env: {
        IDENTITY_URL: `https://shop:${'x'.repeat(32)},${'y'.repeat(32)}@id.example.com`,
        ORIGIN: 'https://shop.example.com',
      },
    },
  };
  Object.assign(globalThis, { ofTheSite });
  await writeFile(join(folder, 'database.js'), 'export const pool = globalThis.ofTheSite;');
  await writeFile(join(folder, 'pages.js'), "export const orders = () => 'orders';");
  const start = 'const { console, process } = globalThis.ofTheSite;';
  await writeFile(join(folder, 'identity.js'), `${start}\n${files['identity.js']}`);
  const { answer } = await import(/* @vite-ignore */ join(folder, 'site.js'));
  const { stores } = await import(/* @vite-ignore */ join(folder, 'identity.js'));
  const login: Response = await answer(new Request('https://shop.example.com/login?return_to=/orders'));
  expect(login.headers.get('location')).toMatch(
    /^https:\/\/id\.example\.com\/sso\/launch\/shop\?state=[\w-]{22}&return_to=%2Forders$/,
  );
  const guarded: Response = await answer(new Request('https://shop.example.com/orders'));
  expect(guarded.headers.get('location')).toBe('https://shop.example.com/login?return_to=%2Forders');
  expect((await answer(new Request('https://shop.example.com/sso/callback'))).status).toBe(400);
  const nudge = async (init: RequestInit) =>
    (await answer(new Request('https://shop.example.com/sso/events', { method: 'POST', ...init }))).status;
  expect(await nudge({})).toBe(400);
  expect(logged.splice(0).map(({ outcome }) => outcome)).toEqual(['parameter_missing', 'nudge_malformed']);
  expect(asked).toEqual([]);
  await stores.sweep();
  expect(asked).toHaveLength(2);
  // A database that is away does not end the process.
  isAway = true;
  const body = JSON.stringify({ client: 'shop', latest: 1 });
  const headers = signMessage(await buildNudgeSecret('shop', 'y'.repeat(32)), body);
  expect(await nudge({ body, headers })).toBe(503);
  expect(logged.map(({ reason }) => reason)).toEqual(['Error: the database is away']);
});

it('the sample for SQLite keeps what has to be kept', async () => {
  const sample = (await readSamples()).at(-1) ?? '';
  const code = `import { createSqlStores, sqlTables } from './dist/index.js';
    ${sample.replace("'identity.sqlite'", JSON.stringify(join(folder, 'identity.sqlite')))}
    const used = [];
    for (const nonce of ['a', 'a', 'b']) used.push(await stores.nonces.consume(nonce, 2e9));
    await stores.sweep();
    console.log(JSON.stringify(used));`;
  await writeFile(join(folder, 'sqlite.mjs'), code);
  const [command = '', ...flags] = commandOf.deno;
  for (const expected of ['[true,false,true]', '[false,false,false]']) {
    const { stdout } = await run(command, [...flags, join(folder, 'sqlite.mjs')], {
      env: { ...process.env, NO_COLOR: '1' },
    });
    expect(stdout.trim()).toBe(expected);
  }
});
