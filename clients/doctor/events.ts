// Tests whether the client accepts genuine nudges and refuses all others. A genuine nudge of the doctor names the client's
// newest real event. So the client pulls its events, and nothing else happens.

import { buildNudgeSecret } from '../../server/events/nudge-secret.ts';
import { signWebhook } from '../../server/web/webhook-signature.ts';
import { type Exam, nowSeconds, tryOut } from './exam.ts';
import type { FindingId } from './findings.ts';
import { randomDigits } from './hand-offs.ts';
import { expectRead } from './reads.ts';

type Nudge = {
  latest: number;
  secrets: readonly string[];
  /** The time of the nudge, in seconds from now. */
  ahead?: number;
  /** A body that is sent in place of the signed body. */
  body?: string;
};

/** The client may have accepted the nudge, and then failed while it pulled. */
const couldNotFinish = (issuer: string) =>
  `The client could not finish. It may have failed to pull its events from ${issuer}: see its log. Else answer with a 2xx, and pull after that.`;

export async function probeEvents(exam: Exam): Promise<void> {
  const { notes, target, held } = exam;
  if (!target.eventsUrl) return notes.miss('events_nudge_refused', 'No events URL is set for this client.');
  const url = new URL(target.eventsUrl);
  const before = await exam.tools.findReads?.();
  const latest = typeof before === 'object' ? Math.max(1, before.latest) : 1;
  let hasTaken = false;
  type Sent = Omit<Nudge, 'latest'>;
  const send = async (nudge: Sent) =>
    (await exam.network.send(url, await buildNudge(exam, { ...nudge, latest }))).status;
  const isTaken = (status: number) => status >= 200 && status < 300;

  const expectTaken = (id: FindingId, words: string, nudge: Sent, unless?: FindingId) =>
    tryOut(exam, [id], async () => {
      const status = await send(nudge);
      hasTaken ||= isTaken(status);
      if (isTaken(status)) return;
      notes.find(id, {
        saw: `Sent ${words}: it was answered with ${status}.`,
        remedy: status >= 500 ? couldNotFinish(target.issuer) : undefined,
        unless,
      });
    });
  const expectRefused = (id: FindingId, words: string, nudge: Sent, unless?: FindingId) =>
    tryOut(exam, [id], async () => {
      const status = await send(nudge);
      if (isTaken(status)) notes.find(id, { saw: `Sent ${words}: it was taken (${status}).`, unless });
      if (status >= 500) notes.find('crashes', { saw: `Sent ${words}: it was answered with ${status}.` });
    });

  const stranger = randomDigits();
  const changed = JSON.stringify({ client: target.client, latest: latest + 1 });
  await Promise.all([
    ...held.map((secret) => expectTaken('events_nudge_refused', 'a genuine nudge', { secrets: [secret] })),
    expectTaken(
      'events_second_signature_ignored',
      'a nudge whose second signature is right, as during a rotation',
      { secrets: [stranger, ...held.slice(0, 1)] },
      'events_nudge_refused',
    ),
    expectRefused('events_signature_not_checked', 'a nudge that a stranger signed', { secrets: [stranger] }),
    expectRefused('events_signature_not_checked', 'a nudge whose body was changed', {
      secrets: held,
      body: changed,
    }),
    ...[-600, 600].map((ahead) =>
      expectRefused(
        'events_timestamp_not_checked',
        `a nudge from ten minutes ${ahead < 0 ? 'ago' : 'ahead'}`,
        { secrets: held, ahead },
        'events_signature_not_checked',
      ),
    ),
  ]);
  if (hasTaken && before !== undefined) await expectRead(exam, before);
}

/** Sends a genuine nudge, if the client has a URL for nudges. */
export async function sendNudge(exam: Exam, latest: number): Promise<void> {
  const { eventsUrl } = exam.target;
  if (eventsUrl)
    await exam.network.send(new URL(eventsUrl), await buildNudge(exam, { latest, secrets: exam.held }));
}

async function buildNudge(exam: Exam, { latest, secrets, ahead = 0, body }: Nudge) {
  const { client } = exam.target;
  const signed = JSON.stringify({ client, latest });
  const message = {
    id: `${client}_${latest}`,
    timestamp: String(nowSeconds(exam) + ahead),
    body: new TextEncoder().encode(signed),
  };
  const signatures = await Promise.all(
    secrets.map(async (secret) => signWebhook(await buildNudgeSecret(client, secret), message)),
  );
  return {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'webhook-id': message.id,
      'webhook-timestamp': message.timestamp,
      'webhook-signature': signatures.join(' '),
    },
    body: body ?? signed,
  };
}
