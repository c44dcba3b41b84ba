// /developers (contract 9.139 to 9.141): what it serves, to whom, and that none of its links is dead.
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, vi } from 'vitest';
import { documents, pathOf } from '../../app/developers/publish/published.ts';
import { createAnswerToAll } from '../../server/instance/answer-to-all.ts';
import { openApp, openProductionApp } from '../support/app/app.ts';
import { readAnchors, readOurFile } from '../support/project/documents.ts';
import { shared } from '../support/run/shared.ts';

const html = { accept: 'text/html' };
const pages = documents.map(({ slug, file }) => [pathOf(slug), file] as const);

const app = shared(() => openApp({ env: { IDENTITY_NAME: 'Château ID' } }));

const open = (path: string, headers = {}, cookie?: string) =>
  app.send(path, { headers: { ...html, ...headers }, cookie });

const idsOf = (text: string) => [...text.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id);

describe.each(pages)('%s', (path, file) => {
  it('shows the document with its title, contents and anchors', async () => {
    const { status, text, headers } = await open(path);
    const [, title = ''] = /^# (.+)$/m.exec(readOurFile(file)) ?? [];
    expect([status, headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(text).toContain(`<title>${title} · Château ID</title>`);
    expect(text.match(/<h1/g)).toHaveLength(1);
    expect(text).toContain(`<h1>${title}</h1>`);
    expect(text).toContain(`<a href="${path}" aria-current="page">`);
    const anchors = readAnchors(readOurFile(file)).slice(1);
    expect(idsOf(text)).toEqual(expect.arrayContaining(anchors));
    expect(new Set(idsOf(text)).size).toBe(idsOf(text).length);
  });

  it('loads nothing but our own files, and no script but the two that static pages have', async () => {
    const { text } = await open(path);
    const loaded = [...text.matchAll(/<(?:link|script|img)[^>]*? (?:href|src)="([^"]+)"/g)].map(
      ([, url = '']) => url,
    );
    expect(loaded.filter((url) => !/^\/(?:assets|brand)\/[\w.-]+$/.test(url))).toEqual([]);
    expect(loaded.filter((url) => url.endsWith('.js'))).toHaveLength(2);
    expect(text).not.toMatch(/<script(?![^>]* src=)|<style|<[a-z][^>]*\s(?:style|on\w+)=/);
  });
});

describe.each(['/developers/contract', '/developers/api'])('%s', (path) => {
  it('is the same for everybody, and is asked for again only where it has changed', async () => {
    const { text, headers } = await open(path);
    const cookie = await app.login('customer@example.test');
    const visited = await open(path, {}, cookie);
    expect(visited.text).toBe(text);
    for (const answer of [headers, visited.headers]) {
      expect(answer.get('cache-control')).toBe('public, no-cache');
      expect(answer.get('set-cookie')).toBeNull();
    }
    const etag = headers.get('etag') ?? '';
    expect(etag).toMatch(/^"[0-9a-f]{24}"$/);
    for (const known of [etag, `W/${etag}`, `"other", ${etag}`, '*']) {
      const answer = await open(path, { 'if-none-match': known });
      expect([answer.status, answer.text, answer.headers.get('etag')]).toEqual([304, '', etag]);
    }
    expect((await open(path, { 'if-none-match': '"other"' })).status).toBe(200);
    const head = await app.send(path, { method: 'HEAD', headers: html });
    expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag]);
  });
});

describe('what is the same for everybody', () => {
  const zipped = (path: string, encoding: string, cookie?: string) =>
    app.fetch(
      new Request(new URL(path, app.config.baseUrl), {
        headers: { ...html, 'accept-encoding': encoding, ...(cookie && { cookie }) },
      }),
      { address: '192.0.2.1' },
    );

  it.each(['gzip', 'deflate'] as const)('is the same in %s', async (encoding) => {
    const plain = await open('/developers/api');
    const answer = await zipped('/developers/api?x=1', `br, ${encoding}`);
    expect([answer.status, answer.headers.get('content-encoding')]).toEqual([200, encoding]);
    expect(answer.headers.get('vary')).toBe('Accept-Encoding');
    expect(answer.headers.get('etag')).toBe(`W/${plain.headers.get('etag')}`);
    const body = answer.body?.pipeThrough(new DecompressionStream(encoding));
    expect(await new Response(body).text()).toBe(plain.text);
    expect((await zipped('/developers/api', 'br')).headers.get('content-encoding')).toBeNull();
  });

  // If the service made these for each request, the API page would take 20 ms, and a kit would be read out of 100 kB of text.
  it.each([
    '/developers/api',
    '/developers/contract',
    '/developers/identity-client-php.zip',
    '/developers/sso-vectors.json',
  ])('is not rendered again, no matter who asks and how: %s (contract 9.139)', async (path) => {
    const cookie = await app.login('customer@example.test');
    const first = await (await zipped(path, 'gzip')).arrayBuffer();
    const spelled = path.replace('e', '%65');
    const asked = 40;
    const before = process.cpuUsage();
    for (let n = 0; n < asked; n++) {
      const way = [`${path}?x=${n}`, spelled, path, `${path}?refused=x`][n % 4] ?? path;
      const answer = await zipped(way, 'gzip', n % 2 ? cookie : undefined);
      expect(answer.headers.get('set-cookie')).toBeNull();
      expect((await answer.arrayBuffer()).byteLength).toBe(first.byteLength);
    }
    const { user, system } = process.cpuUsage(before);
    if (process.env.SHOW_FIGURES) process.stderr.write(`${path}: ${(user + system) / 1_000 / asked} ms\n`);
    expect((user + system) / 1_000 / asked).toBeLessThan(5);
  });

  it('is rendered once for all who ask meanwhile, and is kept only if it exists', async () => {
    const answerToAll = createAnswerToAll();
    const ask = (make: () => Promise<Response>) =>
      answerToAll(new Request('http://localhost:3000/page'), '/page', make);
    const missing = vi.fn(async () => new Response('no', { status: 404 }));
    for (let n = 0; n < 2; n++) expect((await ask(missing)).status).toBe(404);
    expect(missing).toHaveBeenCalledTimes(2);
    const failing = vi.fn(() => Promise.reject(new Error('fails')));
    for (let n = 0; n < 2; n++) await expect(ask(failing)).rejects.toThrow('fails');
    expect(failing).toHaveBeenCalledTimes(2);
    const make = vi.fn(async () => new Response('yes'));
    const texts = await Promise.all(Array.from({ length: 16 }, async () => (await ask(make)).text()));
    expect(texts).toEqual(texts.map(() => 'yes'));
    expect(make).toHaveBeenCalledTimes(1);
  });

  it('is not kept beside 500 others', async () => {
    const answerToAll = createAnswerToAll();
    const make = vi.fn(async () => new Response('yes'));
    const ask = (n: number) => answerToAll(new Request('http://localhost:3000/page'), `/${n}`, make);
    for (let n = 0; n < 501; n++) await ask(n);
    for (const n of [0, 499, 500]) expect(await (await ask(n)).text()).toBe('yes');
    expect(make).toHaveBeenCalledTimes(502);
  });

  it.each(['%3F1', '%3f2', '%23', '%23x'])('is not there with %s behind its path', async (behind) => {
    expect((await app.send(`/developers/typescript${behind}`)).status).toBe(404);
  });
});

it('the reference of the API has the contents of the documents beside it', async () => {
  const { text } = await open('/developers/api');
  expect(text).toContain('<a href="/developers/api" aria-current="page">');
  for (const [path] of pages) expect(text).toContain(`<a href="${path}">`);
});

it('a kit says what it is, and then where its download is', async () => {
  const { text } = await open('/developers/php');
  const at = [
    'Log people in with',
    'id="downloads"',
    'href="/developers/identity-client-php.zip"',
    '<h2 id="try-it',
  ];
  const places = at.map((words) => text.indexOf(words));
  expect(places).not.toContain(-1);
  expect(places).toEqual([...places].sort((one, other) => one - other));
});

it('an address of the service is a link to it', async () => {
  const { text } = await open('/developers');
  for (const path of ['/developers/api', '/openapi.json'])
    expect(text).toContain(`<a href="${path}"><code>${path}</code></a>`);
});

it('each link and anchor leads somewhere', async () => {
  const answers = new Map<string, Awaited<ReturnType<typeof open>>>();
  const dead: string[] = [];
  const waiting = ['/developers'];
  for (const path of waiting) {
    const page = await open(path);
    answers.set(path, page);
    if (page.status >= 400) dead.push(path);
    if (!path.startsWith('/developers') || !page.headers.get('content-type')?.startsWith('text/html'))
      continue;
    for (const [, href = ''] of page.text.matchAll(/(?:href|src)="([^"]+)"/g)) {
      if (/^(?:https?|mailto):/.test(href)) continue;
      const [target = ''] = href.replace(/^#/, `${path}#`).split('#');
      if (!waiting.includes(target)) waiting.push(target);
    }
  }
  for (const [path, page] of answers) {
    for (const [, href = ''] of page.text.matchAll(/href="([^"]+)"/g)) {
      if (!path.startsWith('/developers') || /^(?:https?|mailto):/.test(href) || !href.includes('#'))
        continue;
      const [target = '', anchor = ''] = href.replace(/^#/, `${path}#`).split('#');
      if (!idsOf(answers.get(target)?.text ?? '').includes(anchor)) dead.push(`${path}: ${href}`);
    }
  }
  expect(dead).toEqual([]);
  for (const [path] of pages) expect(waiting).toContain(path);
  expect(waiting).toContain('/developers/sso-vectors.json');
});

it('is there in production', async () => {
  const production = await openProductionApp();
  try {
    for (const path of [
      '/developers',
      '/developers/api',
      '/developers/contract',
      '/developers/identity-client-php.zip',
    ])
      expect((await production.send(path)).status, path).toBe(200);
  } finally {
    await production.close();
  }
});

it.each(['none', 'Contract', 'contract.md', 'operate', 'start', '__proto__', '..%2fcontract', 'none.zip'])(
  'has no page %s',
  async (name) => {
    const { status, headers } = await open(`/developers/${name}`);
    expect([status, headers.get('cache-control')]).toEqual([404, 'no-store']);
  },
);

it('takes nothing but GET and HEAD', async () => {
  for (const path of ['/developers', '/developers/contract', '/developers/sso-vectors.json']) {
    const { status, headers } = await app.send(path, { form: { a: '1' } });
    expect([status, headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  }
});

it('is linked from the pages that explain refusals to programs', async () => {
  expect((await open('/problems/unknown_client')).text).toContain('<a href="/developers">');
  // A person who was refused needs no developer pages.
  expect((await open('/sso/launch/none')).text).not.toContain('/developers');
});

it('costs other pages nothing: no document is in what the service loads at its start, or browsers load', () => {
  const build = fileURLToPath(new URL('../../build/', import.meta.url));
  const words = 'No password, session or cookie ever crosses between domains';
  expect(readOurFile('docs/contract/01-what-it-is.md')).toContain(words);
  expect(readFileSync(`${build}server/index.js`, 'utf8')).not.toContain(words);
  const chunks = readdirSync(`${build}server/assets`).filter((name) => name.endsWith('.js'));
  const holders = chunks.filter((name) =>
    readFileSync(`${build}server/assets/${name}`, 'utf8').includes(words),
  );
  expect(holders).toHaveLength(1);
  for (const name of readdirSync(`${build}client/assets`))
    expect(readFileSync(`${build}client/assets/${name}`, 'utf8'), name).not.toContain(words);
});
