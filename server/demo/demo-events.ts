// How a demo client lives by events (contract section 10), as a product's own engineers would write it: a nudge makes it pull
// over HTTP, with the token made from its secret, and it applies what it gets in order.
import { z } from 'zod';
import { requireWebhookSignature } from '../billing/webhook-signature.ts';
import { buildNudgeSecret } from '../events/nudge-secret.ts';
import { respond } from '../http/answers.ts';
import { readBody, type Visit } from '../http/requests.ts';
import type { Services } from '../services.ts';
import type { Client } from '../sso/clients.ts';
import { sign } from '../sso/hmac.ts';
import { type DemoSessions, demoEventSchema } from './demo-sessions.ts';

const pageSchema = z.object({ events: z.array(demoEventSchema) });
const goneSchema = z.object({ oldest: z.int() });

const limit = 1_000;
const answerWithinMs = 5_000;
const waitMs = 1_000;

export function createDemoSubscriptions(
  { config, log, now }: Pick<Services, 'config' | 'log' | 'now'>,
  sessions: DemoSessions,
) {
  /** How far each client has read. A product keeps this with its profiles. */
  const positions = new Map<string, number>();
  const pulls = new Map<string, Promise<void>>();
  const caughtUp = new Set<string>();

  /** Takes a nudge. Throws 401 `invalid_webhook_signature`. */
  async function receiveNudge(client: Client, request: Request, visit: Visit): Promise<Response> {
    const body = await readBody(request, visit);
    const secrets = await Promise.all(client.secrets.map((secret) => buildNudgeSecret(client.name, secret)));
    await requireWebhookSignature(request.headers, body, { secrets, now: now() });
    // Answered first: what there is to do may take longer than a nudge waits.
    void pull(client);
    return respond(204);
  }

  /** One after the other, so that no event is applied before those that came before it. */
  function pull(client: Client): Promise<void> {
    const { name } = client;
    const last = pulls.get(name) ?? Promise.resolve();
    const next = last
      .then(() => pullAll(client))
      .catch((err) => log.info({ client: name, err }, 'demo client has not pulled'));
    pulls.set(name, next);
    return next;
  }

  async function pullAll(client: Client): Promise<void> {
    const { name } = client;
    for (;;) {
      const after = positions.get(name) ?? 0;
      const { status, answer } = await ask(client, after);
      if (status === 410) {
        sessions.forgetAll(name);
        positions.set(name, goneSchema.parse(answer).oldest - 1);
        if (positions.get(name) === after) throw new Error('told to start where it was');
        continue;
      }
      if (status !== 200) throw new Error(`/sso/events answered ${status}`);
      const { events } = pageSchema.parse(answer);
      for (const event of events) {
        sessions.apply(name, event);
        positions.set(name, event.seq);
      }
      caughtUp.add(name);
      // Asked to the end: that says to the service that all was read.
      if (events.length === 0) return;
    }
  }

  async function ask({ name, secrets }: Client, after: number): Promise<{ status: number; answer: unknown }> {
    const token = await sign(secrets[0] ?? '', `identity events v1 ${name}`);
    const response = await fetch(`${config.baseUrl}/sso/events?after=${after}&limit=${limit}`, {
      headers: { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(answerWithinMs),
    });
    return { status: response.status, answer: await response.json().catch(() => undefined) };
  }

  return {
    receiveNudge,
    /**
     * Before the first session: what happened earlier is of no more interest, and must not end it. Not waited for longer than
     * a moment.
     */
    async catchUpOnce(client: Client): Promise<void> {
      if (caughtUp.has(client.name)) return;
      await Promise.race([pull(client), new Promise<void>((done) => setTimeout(done, waitMs))]);
    },
  };
}
