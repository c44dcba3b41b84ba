// One genuine signup, and ways to spoil it before or after it is signed. node:crypto makes the signature, because it can sign
// bytes that are no text.
import { createHmac } from 'node:crypto';
import type { Answer, TestApp } from '../app/app.ts';
import { listRefused, type Refused, setMember, type Wire } from '../run/cases.ts';
import { freshWebhookId } from './crm.ts';

export type Change = {
  /** Changes the signup before it is written as JSON. */
  signup?: (signup: Wire) => void;
  /** Changes the JSON text (or gives bytes) before it is signed. */
  text?: (json: string) => string | Uint8Array;
  id?: string;
  timestamp?: string;
  /** Signs with another key than the configured one. */
  key?: (secret: string) => Uint8Array | string;
  /** Changes the headers after signing. `mac` is the right signature without its `v1,`. */
  headers?: (headers: Headers, mac: string) => void;
  /** Changes the body after signing. */
  sentBody?: (body: string) => string;
  method?: string;
  /** Sends the body in pieces, without Content-Length. */
  isChunked?: boolean;
};

export const set = (path: string, value: unknown): Change => ({
  signup: (signup) => setMember(signup, path, value),
});

export const at = (seconds: number) => new Date(seconds * 1_000).toISOString();

/** `now` is in Unix seconds. No answer or log line contains the texts of this signup unless the service copies them. */
export function buildRawSignup(now: number, name: string): Wire {
  return {
    signup_id: `${name}-canary`,
    occurred_at: at(now - 60),
    user: { email: `${name}-canary@example.test`, name: `${name} Canary` },
    account: { name: `${name} Canary Company` },
    contract: {
      plan: 'canary-plan',
      status: 'trialing',
      trial_ends_at: at(now + 14 * 24 * 3_600),
      price: { currency: 'EUR', unit_amount: 49_137, interval: 'month' },
    },
  };
}

/** The request, and the right signature, which no answer may contain. */
export function buildRawMessage(secret: string, now: number, signup: Wire, change: Change) {
  change.signup?.(signup);
  const json = JSON.stringify(signup);
  const body = Buffer.from(change.text?.(json) ?? json);
  const timestamp = change.timestamp ?? String(now);
  const key = change.key?.(secret) ?? Buffer.from(secret.replace('whsec_', ''), 'base64');
  const sign = (id: string) =>
    createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  let id = change.id ?? freshWebhookId();
  // Only some signatures have a character that differs in the URL-safe alphabet. This signature must have one.
  while (change.id === undefined && !/[+/]/.test(sign(id))) id = freshWebhookId();
  const mac = sign(id);
  const headers = new Headers({
    'content-type': 'application/json',
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': `v1,${mac}`,
  });
  change.headers?.(headers, mac);
  const sent = change.sentBody ? Buffer.from(change.sentBody(body.toString())) : body;
  if (!change.isChunked) headers.set('content-length', String(sent.length));
  const method = change.method ?? 'POST';
  const hasBody = method !== 'GET' && method !== 'HEAD';
  const request = new Request('http://localhost:3000/integrations/crm/signups', {
    method,
    headers,
    ...(hasBody && { body: change.isChunked ? inPieces(sent) : new Uint8Array(sent), duplex: 'half' }),
  } as RequestInit);
  return { request, mac };
}

export async function sendRaw(app: Pick<TestApp, 'fetch'>, request: Request): Promise<Answer> {
  const response = await app.fetch(request, { address: '192.0.2.7' });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

function inPieces(bytes: Uint8Array, size = 1_000): ReadableStream<Uint8Array> {
  let sent = 0;
  return new ReadableStream({
    pull(controller) {
      if (sent >= bytes.length) return controller.close();
      controller.enqueue(new Uint8Array(bytes.subarray(sent, sent + size)));
      sent += size;
    },
  });
}

/** `pointers` name the wrong members. Only a 422 has pointers. */
export type Case = Refused<Change & { pointers?: string[] }>;
export const refused = listRefused<Change>;

export const header = (name: string, value: string): Change => ({
  headers: (headers) => headers.set(name, value),
});
export const without = (name: string): Change => ({ headers: (headers) => headers.delete(name) });
export const text = (change: (json: string) => string | Uint8Array): Change => ({ text: change });
