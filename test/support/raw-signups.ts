// One genuine signup and ways to spoil it, before or after it is signed. Signed by node:crypto over bytes, so
// that the body may be what is no text; sent as the CRM does, without Origin, cookie or anything of a browser.
import { createHmac } from 'node:crypto';
import type { Answer, TestApp } from './app.ts';
import { freshWebhookId } from './crm.ts';

// biome-ignore lint/suspicious/noExplicitAny: these tests break the shape on purpose
export type Wire = Record<string, any>;

export type Change = {
  /** Changes the signup before it is written as JSON. */
  signup?: (signup: Wire) => void;
  /** Changes the JSON text (or gives bytes) before it is signed. */
  text?: (json: string) => string | Uint8Array;
  /** Signs, and sends, under these. */
  id?: string;
  timestamp?: string;
  /** Signs with another key than that of the configured secret. */
  key?: (secret: string) => Uint8Array | string;
  /** Changes the headers after the message was signed; `mac` is the right signature without its `v1,`. */
  headers?: (headers: Headers, mac: string) => void;
  /** Changes the body after the message was signed. */
  sentBody?: (body: string) => string;
  method?: string;
  /** In pieces, without Content-Length. */
  isChunked?: boolean;
};

/** What to do to a signup so that the member at that path (`user.name`) has that value; undefined takes it away. */
export const set = (name: string, value: unknown): Change => ({
  signup: (signup) => {
    const names = name.split('.');
    const last = names.pop() ?? '';
    const target = names.reduce((object, key) => object[key], signup);
    if (value === undefined) delete target[last];
    else target[last] = value;
  },
});

export const at = (seconds: number) => new Date(seconds * 1_000).toISOString();

/** `now` in Unix seconds. Every text in it is one that no message has of itself. */
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

/** The request, and what of it must not come back. */
export function buildRawMessage(secret: string, now: number, signup: Wire, change: Change) {
  change.signup?.(signup);
  const json = JSON.stringify(signup);
  const body = Buffer.from(change.text?.(json) ?? json);
  const timestamp = change.timestamp ?? String(now);
  const key = change.key?.(secret) ?? Buffer.from(secret.replace('whsec_', ''), 'base64');
  const sign = (id: string) =>
    createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
  let id = change.id ?? freshWebhookId();
  // Three of four signatures are spelt otherwise in the URL-safe alphabet; this one is to be.
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

export type Case = Change & {
  why: string;
  status: number;
  code: string;
  /** Of the members at fault, for 422. */
  pointers?: string[];
};

export const refused = (status: number, code: string, cases: Record<string, Change>): Case[] =>
  Object.entries(cases).map(([why, change]) => ({ why, status, code, ...change }));

export const header = (name: string, value: string): Change => ({
  headers: (headers) => headers.set(name, value),
});
export const without = (name: string): Change => ({ headers: (headers) => headers.delete(name) });
export const text = (change: (json: string) => string | Uint8Array): Change => ({ text: change });
