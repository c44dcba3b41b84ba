// What a browser waits for and loads at the first visit to a page.
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { type Pair, users } from './compare.ts';
import { median } from './load.ts';
import { type Asked, buildAsking } from './population.ts';
import { addRow, number } from './table.ts';

export async function comparePages({ floor, service }: Pair): Promise<void> {
  for (const path of ['/login', '/profile'] as const) {
    const ask = buildAsking(users)[`page ${path}`];
    const [theirs, ours]: [number[], number[]] = [[], []];
    for (let n = 0; n < 800; n++) {
      const times = [await timeToFirstByte(floor.url, ask()), await timeToFirstByte(service.url, ask())];
      // The first two hundred warm up.
      if (n < 200) continue;
      theirs.push(times[0] ?? Number.NaN);
      ours.push(times[1] ?? Number.NaN);
    }
    addRow(`page ${path}, to the first byte, floor`, { p50Ms: median(theirs) });
    addRow(`page ${path}, to the first byte`, { p50Ms: median(ours) }, number(median(theirs) / median(ours)));
    const { html, style, script } = await weighPage(service.url, ask());
    const kB = (bytes: number) => `${(bytes / 1_000).toFixed(1)} kB`;
    addRow(`page ${path}, gzip: HTML ${kB(html)}, style ${kB(style)}, script ${kB(script)}`);
  }
}

/** In ms, from the request to the first byte of the answer, on a connection that is open already. */
async function timeToFirstByte(url: string, { path, headers }: Asked): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url + path, { headers });
  const ms = performance.now() - startedAt;
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}`);
  return ms;
}

/** Bytes over the wire, compressed, of the page and of all files of ours that it names. */
async function weighPage(url: string, { path, headers }: Asked) {
  const page = await load(url + path, headers);
  const html = page.toString('latin1').startsWith('<') ? page.toString() : gunzipSync(page).toString();
  const files = new Set([...html.matchAll(/\/assets\/[\w.$-]+\.(?:js|css)/g)].map(([file]) => file));
  const sizes = { html: page.length, script: 0, style: 0 };
  for (const file of files) {
    sizes[file.endsWith('.js') ? 'script' : 'style'] += (await load(url + file)).length;
  }
  return sizes;
}

/** The body as it came: `fetch` would decompress it. */
function load(url: string, headers: Record<string, string> = {}): Promise<Buffer> {
  return new Promise((done, failed) => {
    get(url, { headers: { ...headers, 'accept-encoding': 'gzip' } }, async (response) => {
      if (response.statusCode !== 200) return failed(new Error(`${url} answers ${response.statusCode}`));
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      done(Buffer.concat(chunks));
    }).on('error', failed);
  });
}
