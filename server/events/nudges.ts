// Nudges tell a client that there are events to pull, until it accepts the nudge or has pulled the events (contract 10.25 to
// 10.35). The database decides which instance makes a try, and when (db/tables/event-deliveries.ts).
import { z } from 'zod';
import { claimNudges, type Nudge, recordNudge } from '../../db/tables/event-deliveries.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { version } from '../runtime/version.ts';
import type { Client } from '../sso/clients.ts';
import { signWebhook } from '../web/webhook-signature.ts';
import { buildNudgeSecret } from './nudge-secret.ts';

const answerWithinMs = 10_000;

export const nudgeSchema = z
  .object({
    client: z.string().describe('The name of your client.'),
    latest: z.int().min(1).describe('The number of its newest event.'),
  })
  .describe('Something happened: pull.');

type Target = Client & { eventsUrl: string };
const isTarget = (client: Client): client is Target => client.eventsUrl !== undefined;

export type Nudger = {
  /** Does not wait for the tries that it starts, so a client that is down delays nothing else. */
  nudge: (signal: AbortSignal) => Promise<void>;
  /** Stops the tries under way. Later, any instance makes these tries again. */
  stop: () => Promise<void>;
};

export function createNudger(deps: Pick<Dependencies, 'clients' | 'db' | 'now' | 'log' | 'metrics'>): Nudger {
  const { clients, db, log } = deps;
  const underWay = new Map<Promise<void>, AbortController>();

  function start(target: Target, nudge: Nudge): void {
    const controller = new AbortController();
    const run: Promise<void> = tryNudge(deps, target, nudge, controller)
      .catch((err) => log.error({ client: target.name, err }, 'nudge not recorded'))
      .finally(() => underWay.delete(run));
    underWay.set(run, controller);
  }

  return {
    async nudge(signal) {
      const targets = new Map(
        clients
          .list()
          .filter(isTarget)
          .map((target) => [target.name, target]),
      );
      if (targets.size === 0) return;
      for (const nudge of await claimNudges(db, [...targets.keys()])) {
        const target = targets.get(nudge.client);
        if (target && !signal.aborted) start(target, nudge);
      }
    },
    async stop() {
      for (const controller of underWay.values()) controller.abort(stopping);
      await Promise.all(underWay.keys());
    },
  };
}

const stopping = new Error('this instance is stopping');
const tooLate = new Error('no answer in time');

async function tryNudge(
  { db, now, log, metrics }: Pick<Dependencies, 'db' | 'now' | 'log' | 'metrics'>,
  target: Target,
  nudge: Nudge,
  controller: AbortController,
): Promise<void> {
  const request = await buildRequest(target, nudge, now());
  // Each try has its own controller. AbortSignal.any and AbortSignal.timeout would not be freed when the try ends.
  const timer = setTimeout(() => controller.abort(tooLate), answerWithinMs);
  const failure = await post(target.eventsUrl, request, controller.signal).finally(() => clearTimeout(timer));
  if (failure !== undefined && controller.signal.reason === stopping) return;
  metrics.countNudge(target.name, failure === undefined ? 'taken' : 'failed');
  const { wasFailing } = await recordNudge(db, nudge, failure);
  const fields = { client: target.name, latest: nudge.latest };
  // Only the first failure in a row is logged, because a line per try would fill the log.
  if (failure !== undefined && !wasFailing) log.info({ ...fields, failure }, 'nudge not taken');
  if (failure === undefined && wasFailing) log.info(fields, 'nudges are taken again');
}

async function buildRequest({ name, secrets }: Target, { latest }: Nudge, now: Date): Promise<RequestInit> {
  const nudge: z.infer<typeof nudgeSchema> = { client: name, latest };
  const body = new TextEncoder().encode(JSON.stringify(nudge));
  const message = {
    id: `${name}_${latest}`,
    timestamp: String(Math.floor(now.getTime() / 1_000)),
    body,
  };
  // During a rotation the nudge is signed with both secrets, because the client may have either.
  const signatures = await Promise.all(
    secrets.map(async (secret) => signWebhook(await buildNudgeSecret(name, secret), message)),
  );
  const headers = {
    'Content-Type': 'application/json',
    'User-Agent': `identity-service/${version}`,
    'webhook-id': message.id,
    'webhook-timestamp': message.timestamp,
    'webhook-signature': signatures.join(' '),
  };
  return { method: 'POST', headers, body };
}

/** Returns why the client did not accept the nudge, or undefined if it did. */
async function post(url: string, request: RequestInit, signal: AbortSignal): Promise<string | undefined> {
  try {
    const response = await fetch(url, { ...request, redirect: 'manual', signal });
    response.body?.cancel().catch(() => undefined);
    if (response.ok) return undefined;
    const isRedirect = response.type === 'opaqueredirect' || Math.floor(response.status / 100) === 3;
    return isRedirect ? 'redirected' : `HTTP ${response.status}`;
  } catch (error) {
    return signal.reason === tooLate ? 'timed out' : explain(error);
  }
}

// Node gives the cause as a code, Deno in words.
const causes: [form: RegExp, words: string][] = [
  [/refused/i, 'connection refused'],
  [/ENOTFOUND|EAI_AGAIN|dns error|lookup/i, 'host not found'],
  [/CERT|TLS|SSL/i, 'TLS failed'],
  [/ECONNRESET|EPIPE|UND_ERR_SOCKET|reset|closed|SendRequest/i, 'connection dropped'],
];

function explain(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  const text = `${message} ${cause?.code} ${cause?.message}`;
  return causes.find(([form]) => form.test(text))?.[1] ?? 'connection failed';
}
