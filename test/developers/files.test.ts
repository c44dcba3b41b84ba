import { createHash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { describe, expect, it } from 'vitest';
import { documents, files } from '../../app/developers/publish/published.ts';
import { openApp } from '../support/app/app.ts';
import { readOurFile } from '../support/project/documents.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

async function download(name: string) {
  const request = new Request(`${app.config.baseUrl}/developers/${name}`);
  const answer = await app.fetch(request, { address: '192.0.2.1' });
  return { headers: answer.headers, bytes: new Uint8Array(await answer.arrayBuffer()) };
}

it('the vectors are the ones that our own tests run', async () => {
  const { status, text, headers } = await app.send('/developers/sso-vectors.json');
  expect([status, headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(text).toBe(readOurFile('test/sso-vectors.json'));
});

it.each(files.map(({ name, type }) => [name, type]))('%s is kept until it changes', async (name, type) => {
  const { headers } = await download(name);
  expect(headers.get('content-type')).toBe(type);
  expect(headers.get('cache-control')).toBe('public, no-cache');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  const etag = headers.get('etag') ?? '';
  const known = await app.send(`/developers/${name}`, { headers: { 'if-none-match': etag } });
  expect([known.status, known.text]).toEqual([304, '']);
  const head = await app.send(`/developers/${name}`, { method: 'HEAD' });
  expect([head.status, head.text, head.headers.get('etag')]).toEqual([200, '', etag]);
});

describe.each(files.filter((file) => 'folders' in file))('$name', ({ name, folders }) => {
  it('holds the files of the kit as they are, below one folder', async () => {
    const { bytes } = await download(name);
    const content = unzipSync(bytes);
    const paths = Object.keys(content);
    const [top] = folders[0] ?? [];
    expect(paths.length).toBeGreaterThan(3);
    expect(paths.filter((path) => !path.startsWith(`${top}/`))).toEqual([]);
    for (const path of paths) {
      if (path.includes('/dist/')) continue;
      const [inArchive = '', source = ''] =
        folders.findLast(([inside]) => path.startsWith(`${inside}/`)) ?? [];
      expect(new TextDecoder().decode(content[path]), path).toBe(
        readOurFile(source + path.slice(inArchive.length)),
      );
    }
    for (const [inArchive, source] of folders) {
      const own = readdirSync(fileURLToPath(new URL(`../../${source}`, import.meta.url)), {
        withFileTypes: true,
      });
      for (const file of own.filter((each) => each.isFile() && !each.name.startsWith('.')))
        expect(paths).toContain(`${inArchive}/${file.name}`);
    }
  });

  it('has the digest that its page says', async () => {
    const { bytes } = await download(name);
    const sha256 = createHash('sha256').update(bytes).digest('hex');
    const { slug } = documents.find(({ archive }) => archive === name) ?? {};
    for (const path of ['/developers', `/developers/${slug}`]) {
      const { text } = await app.send(path);
      expect(text).toContain(`href="/developers/${name}"`);
      expect(text).toContain(`<code>${sha256}</code>`);
    }
  });
});

it('the kit in TypeScript brings what it is compiled to', async () => {
  const content = unzipSync((await download('identity-client-typescript.zip')).bytes);
  const { exports } = JSON.parse(readOurFile('clients/typescript/package.json'));
  const { import: forModules, require: forCommonJs } = exports['.'];
  for (const path of [...Object.values<string>(forModules), ...Object.values<string>(forCommonJs)]) {
    const text = new TextDecoder().decode(content[join('identity-client-typescript', path)]);
    expect(text).toContain('createIdentityClient');
  }
});

it('the plugin brings the kit for PHP', async () => {
  const plugin = Object.keys(unzipSync((await download('identity-login-wordpress.zip')).bytes));
  const kit = Object.keys(unzipSync((await download('identity-client-php.zip')).bytes));
  const sources = kit.flatMap((path) => (path.includes('/src/') ? [path.replace(/^.*\/src\//, '')] : []));
  expect(sources.length).toBeGreaterThan(5);
  expect(plugin).toEqual(expect.arrayContaining(sources.map((path) => `identity-login/kit/${path}`)));
});
