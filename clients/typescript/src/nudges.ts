// A nudge says that there are events to pull. It is signed as in Standard Webhooks 1.0, with a key made from the secret.
import { maxBodyBytes, readBody } from './body.ts';
import { type Bytes, fromBase64, hmac, isSignedByAny, utf8 } from './bytes.ts';
import type { Settings } from './config.ts';
import { memberOf } from './hand-off.ts';
import { describe, logRefusal, privateHeaders, Refusal } from './refusals.ts';
import { readJson, toSeconds } from './verify.ts';

const toleranceSeconds = 300;
const maxSignatures = 16;

/** Answers 204 if the nudge is genuine, or else a refusal whose body is its code. After a 204, pull events. */
export async function receiveNudge(settings: Settings, request: Request): Promise<Response> {
  try {
    if (request.method !== 'POST') throw new Refusal('method_not_allowed', request.method);
    await requireNudge(settings, request);
    return new Response(null, { status: 204, headers: privateHeaders });
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const { code, status } = error;
    logRefusal(settings, error);
    const headers = { ...privateHeaders, ...describe(error), 'Content-Type': 'text/plain; charset=utf-8' };
    return new Response(`${code}\n`, {
      status,
      headers: { ...headers, ...(status === 405 && { Allow: 'POST' }) },
    });
  }
}

async function requireNudge({ client, secrets, now }: Settings, request: Request): Promise<void> {
  const { headers } = request;
  const id = headers.get('webhook-id');
  const timestamp = headers.get('webhook-timestamp');
  const given = headers.get('webhook-signature');
  if (!id || !timestamp || !given) throw new Refusal('nudge_malformed', 'a header is missing');
  if (!/^\d{1,12}$/.test(timestamp))
    throw new Refusal('nudge_malformed', 'webhook-timestamp is not a Unix time');
  const body = await readBody(request);
  if (!body) throw new Refusal('nudge_malformed', `the body has more than ${maxBodyBytes} bytes`);

  const keys = await deriveNudgeKeys({ client, secrets });
  const signatures = given
    .split(' ', maxSignatures)
    .flatMap((text) => (text.startsWith('v1,') && fromBase64(text.slice(3))) || []);
  if (!(await isSignedByAny(keys, signatures, toSigned(id, timestamp, body))))
    throw new Refusal('nudge_signature_wrong', 'signed with none of our secrets');
  const age = toSeconds(now()) - Number(timestamp);
  if (!(Math.abs(age) <= toleranceSeconds))
    throw new Refusal('nudge_too_old', `signed ${age} s ago by our clock`);

  const nudge = readJson(body, 'nudge_malformed');
  const latest = memberOf(nudge, 'latest');
  if (memberOf(nudge, 'client') !== client) throw new Refusal('nudge_malformed', 'client is not our name');
  if (!(Number.isSafeInteger(latest) && Number(latest) >= 0))
    throw new Refusal('nudge_malformed', 'latest is not a whole number');
}

export function deriveNudgeKeys({ client, secrets }: Pick<Settings, 'client' | 'secrets'>): Promise<Bytes[]> {
  const label = utf8(`identity webhooks v1 ${client}`);
  return Promise.all(secrets.map((secret) => hmac(utf8(secret), label)));
}

/** The bytes of a nudge that its signature covers. */
export function toSigned(id: string, timestamp: string, end: Bytes): Bytes {
  const start = utf8(`${id}.${timestamp}.`);
  const all = new Uint8Array(start.length + end.length);
  all.set(start);
  all.set(end, start.length);
  return all;
}
