// What a page costs who waits for it.
import { get } from 'node:http';
import { gunzipSync } from 'node:zlib';
import type { Asked } from './population.ts';

/** In ms, from the request to the first byte of the answer, on a connection that is open already. */
export async function timeToFirstByte(url: string, { path, headers }: Asked): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(url + path, { headers });
  const ms = performance.now() - startedAt;
  await response.arrayBuffer();
  if (response.status !== 200) throw new Error(`${path} answers ${response.status}`);
  return ms;
}

/** Bytes over the wire, compressed, of the page and of all files of ours that it names. */
export async function weighPage(url: string, { path, headers }: Asked) {
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
