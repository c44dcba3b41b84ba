// /developers/llms.txt (contract 13.78): one short page for programs that write an integration. It is made of documents for
// people.
import { expect, it } from 'vitest';
import { documents } from '../../app/developers/publish/published.ts';
import { openApp } from '../support/app/app.ts';
import { readAnchors, readCodeBlocks, readOurFile } from '../support/project/documents.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const read = async () => (await app.send('/developers/llms.txt')).text;
const kits = documents.filter(({ example }) => example);

it('is text that everybody may read, of at most 1,500 words (contract 13.78)', async () => {
  const { status, text, headers } = await app.send('/developers/llms.txt');
  expect([status, headers.get('content-type')]).toEqual([200, 'text/plain; charset=utf-8']);
  expect(text.split(/\s+/).length).toBeLessThanOrEqual(1_500);
  expect(text).not.toContain('undefined');
});

// The tests of the kits run these samples, and the kits' examples, with the real service.
it('has samples of each kit that are those of its guide, and no others (contract 13.78)', async () => {
  const samples = readCodeBlocks({ path: 'llms.txt', text: await read() });
  const guides = ['docs/developers.md', ...kits.map(({ file }) => file)];
  const theirs = guides.flatMap((path) =>
    readCodeBlocks({ path, text: readOurFile(path) }).map(({ code }) => code),
  );
  const examples = kits.map(({ example = '' }) => readOurFile(example));
  expect(kits).toHaveLength(3);
  for (const { code } of samples) expect([...theirs, ...examples]).toContain(code);
  for (const example of examples) expect(samples.map(({ code }) => code)).toContain(example);
  expect(samples.filter(({ code }) => /fake_?identity/i.test(code))).toHaveLength(3);
});

it('has the words of the guides', async () => {
  const text = await read();
  const plain = (words: string) => words.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1');
  const ours = plain(kits.reduce((all, { example = '' }) => all.replace(readOurFile(example), ''), text));
  const guides = plain(documents.map(({ file }) => readOurFile(file)).join('\n'));
  const added = ours.split('\n').filter((line) => !guides.includes(line));
  expect(added.filter((line) => !/^(?:## |The kit is \/developers\/|- \/developers|```)/.test(line))).toEqual(
    [],
  );
});

it('leads only to pages that exist', async () => {
  const text = await read();
  const links = [...text.matchAll(/\]\(([^)]+)\)|(?:^| )(\/developers[\w./#-]*\w)/gm)].map(
    ([, one, other]) => one ?? other ?? '',
  );
  expect(links.length).toBeGreaterThan(20);
  for (const link of new Set(links)) {
    const [path = '', anchor] = link.split('#');
    expect((await app.send(path)).status, link).toBe(200);
    const file = documents.find(({ slug }) => `/developers/${slug}` === path)?.file;
    if (anchor) expect(readAnchors(readOurFile(file ?? '')), link).toContain(anchor);
  }
});
