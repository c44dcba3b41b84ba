// Answers that are the same for everybody. Each answer is made and compressed one time and then kept, so that further requests
// for it cost little.
import { parseAccept } from 'hono/utils/accept';
import { readHeader } from '../basics/text.ts';
import { shortDigest } from '../runtime/hash.ts';
import { respond } from '../web/answers.ts';
import { matchesTag } from '../web/requests.ts';

type Kept = {
  headers: Record<string, string>;
  etag: string;
  bodies: Map<Encoding | 'identity', Promise<Uint8Array<ArrayBuffer>>>;
};

const encodings = ['gzip', 'deflate'] as const;
type Encoding = (typeof encodings)[number];

// The limit is far above the number of pages that are the same for everybody. It keeps memory small even if somebody finds
// endless paths that each have an answer.
const maxKept = 500;

const cacheControl = 'public, no-cache';
const isText = (type = '') => type.startsWith('text/');

/** `make` must depend only on the path, because the answer is for everybody. Only a 200 is kept. */
export function createAnswerToAll() {
  const kept = new Map<string, Promise<Kept | Response>>();

  const keep = async (make: () => Promise<Response>): Promise<Kept | Response> => {
    const made = await make();
    if (made.status !== 200) return made;
    const bytes = new Uint8Array(await made.arrayBuffer());
    return {
      headers: Object.fromEntries(made.headers),
      etag: `"${shortDigest(bytes)}"`,
      bodies: new Map([['identity', Promise.resolve(bytes)]]),
    };
  };

  return async (request: Request, path: string, make: () => Promise<Response>): Promise<Response> => {
    let found = kept.get(path);
    if (!found) {
      // If more requests come while the answer is made, they wait for it.
      found = keep(make);
      if (kept.size < maxKept) {
        kept.set(path, found);
        const forget = () => kept.delete(path);
        found.then((made) => made instanceof Response && forget(), forget);
      }
    }
    const answer = await found;
    if (answer instanceof Response) return answer.clone();
    const { headers, etag, bodies } = answer;
    if (matchesTag(request, etag)) return respond(304, { 'cache-control': cacheControl, etag });
    const encoding = isText(headers['content-type']) ? chooseEncoding(request) : undefined;
    const body = await (encoding ? compressOnce(bodies, encoding) : bodies.get('identity'));
    return new Response(body, {
      headers: {
        ...headers,
        'cache-control': cacheControl,
        ...(isText(headers['content-type']) && { vary: 'Accept-Encoding' }),
        ...(encoding && { 'content-encoding': encoding }),
        // A compressed body gets a weak tag, because its bytes differ from the plain body's, but mean the same.
        etag: encoding ? `W/${etag}` : etag,
      },
    });
  };
}

/** Chooses the encoding as `compress` of Hono does. Hono itself would compress the same bytes again for each request. */
function chooseEncoding(request: Request): Encoding | undefined {
  const accepted = parseAccept(readHeader(request.headers, 'accept-encoding') ?? '');
  const weightOf = (name: string) =>
    (accepted.find(({ type }) => type.toLowerCase() === name) ?? accepted.find(({ type }) => type === '*'))
      ?.q ?? 0;
  const [first, second] = encodings.map((name) => ({ name, weight: weightOf(name) }));
  const best = first && second && second.weight > first.weight ? second : first;
  return best && best.weight > 0 ? best.name : undefined;
}

function compressOnce(bodies: Kept['bodies'], encoding: Encoding) {
  const known = bodies.get(encoding);
  if (known) return known;
  const compressed = (async () => {
    const bytes = (await bodies.get('identity')) ?? new Uint8Array();
    const stream = new Blob([bytes]).stream().pipeThrough(new CompressionStream(encoding));
    return new Uint8Array(await new Response(stream).arrayBuffer());
  })();
  bodies.set(encoding, compressed);
  return compressed;
}
