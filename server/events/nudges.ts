// Nudges tell a client that there are events to pull. They are tried until the client accepts one or has pulled the events
// (contract 10.25 to 10.35). The database decides which instance makes a try, and when (db/tables/event-deliveries.ts).
import { z } from 'zod';
import {
  claimNudges,
  listDeliveries,
  type Nudge,
  recordNudge,
  recordTry,
} from '../../db/tables/event-deliveries.ts';
import { callClient, createTries, explainError, explainStatus, inTime, stopping } from '../clients/call.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { version } from '../runtime/version.ts';
import type { Client } from '../sso/clients.ts';
import { signWebhook } from '../web/webhook-signature.ts';
import { buildNudgeSecret } from './nudge-secret.ts';

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

export function createNudger(
  deps: Pick<Dependencies, 'config' | 'clients' | 'db' | 'now' | 'log' | 'metrics'>,
): Nudger {
  const { clients, db, log } = deps;
  const tries = createTries(log, 'nudge not recorded');

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
        if (target && !signal.aborted)
          tries.start(target.name, (controller) => tryNudge(deps, target, nudge, controller));
      }
    },
    stop: tries.stop,
  };
}

async function tryNudge(
  { config, db, now, log, metrics }: Pick<Dependencies, 'config' | 'db' | 'now' | 'log' | 'metrics'>,
  target: Target,
  nudge: Nudge,
  controller: AbortController,
): Promise<void> {
  const message = await buildNudge(target, nudge, now());
  const failure = await inTime(controller, (signal) => post(config, target, message, signal));
  if (failure !== undefined && controller.signal.reason === stopping) return;
  metrics.countNudge(target.name, failure === undefined ? 'taken' : 'failed');
  const { wasFailing } = await recordNudge(db, nudge, failure);
  const fields = { client: target.name, latest: nudge.latest };
  // Only the first failure in a row is logged, because a line per try would fill the log.
  if (failure !== undefined && !wasFailing) log.info({ ...fields, failure }, 'nudge not taken');
  if (failure === undefined && wasFailing) log.info(fields, 'nudges are taken again');
}

async function buildNudge({ name, secrets }: Client, { latest }: Pick<Nudge, 'latest'>, now: Date) {
  const nudge: z.infer<typeof nudgeSchema> = { client: name, latest };
  const body = new TextEncoder().encode(JSON.stringify(nudge));
  const message = {
    id: `${name}_${latest}`,
    timestamp: String(Math.floor(now.getTime() / 1_000)),
    body,
  };
  // During a rotation the nudge is signed with both secrets, because the client may have either secret.
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
  return { headers, body };
}

/** Returns why the client did not accept the nudge, or undefined if it did. */
async function post(
  config: Dependencies['config'],
  { source, eventsUrl }: Target,
  message: Awaited<ReturnType<typeof buildNudge>>,
  signal: AbortSignal,
): Promise<string | undefined> {
  if (source === 'row') return callClient(config, eventsUrl, message, signal);
  try {
    const response = await fetch(eventsUrl, { ...message, method: 'POST', redirect: 'manual', signal });
    response.body?.cancel().catch(() => undefined);
    return response.type === 'opaqueredirect' ? 'redirected' : explainStatus(response.status);
  } catch (error) {
    return explainError(error, signal);
  }
}

/**
 * Tries the webhook with a nudge about no new event. Returns undefined if the client accepted the nudge. Otherwise returns why
 * the client did not accept it.
 */
export async function tryWebhook(
  { config, db, now }: Pick<Dependencies, 'config' | 'db' | 'now'>,
  target: Client & { eventsUrl: string },
): Promise<string | undefined> {
  const [delivery] = await listDeliveries(db, [target.name]);
  const message = await buildNudge(target, { latest: Math.max(1, delivery?.latest ?? 0) }, now());
  const failure = await inTime(new AbortController(), (signal) => post(config, target, message, signal));
  await recordTry(db, target.name, failure);
  return failure;
}
