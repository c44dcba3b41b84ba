// An answer that is the same for everybody: caches keep it, and ask whether it is still current.
import { shortDigest } from '../runtime/hash.ts';
import { respond } from './answers.ts';
import { matchesTag } from './requests.ts';

const encoder = new TextEncoder();

/** The body with its entity tag, or 304 for a client that has this body already. */
export function answerToAll(
  request: Request,
  body: string | Uint8Array<ArrayBuffer>,
  further: Record<string, string>,
): Response {
  const bytes = typeof body === 'string' ? encoder.encode(body) : body;
  const headers = { 'Cache-Control': 'public, no-cache', ETag: `"${shortDigest(bytes)}"` };
  if (matchesTag(request, headers.ETag)) return respond(304, headers);
  return new Response(bytes, { headers: { ...further, ...headers } });
}
