// How a stranger accepts nudges and reads events.
import { isProfile, readJson } from './hand-off.ts';
import { hmac, isSame, Sessions } from './sessions.ts';
import { type Question, Refusal, type Reply } from './web.ts';

export type Event = {
  seq: number;
  type: string;
  occurred_at?: string;
  user_id?: string;
  sid?: string;
  profile?: unknown;
};

const nudgeSeconds = 300;
const pollMs = 30_000;

export class Events extends Sessions {
  protected position = 0;
  private isReading = false;
  private isAskedAgain = false;
  private timer: ReturnType<typeof setInterval> | undefined;

  /** The site reads events when it starts and every 30 s, too, because nudges may be lost. */
  start(): void {
    if (!this.options.serviceUrl) return;
    this.timer = setInterval(() => this.pull(), pollMs).unref();
    this.pull();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  protected takeNudge(question: Question): Reply {
    try {
      if (question.method !== 'POST') throw new Refusal('method_not_allowed');
      this.requireNudge(question);
      this.pull();
      return { status: 204 };
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      const { code, status } = error;
      const headers = { 'Identity-Refusal': code, ...(status === 405 && { Allow: 'POST' }) };
      return { status, headers, text: `${code}\n` };
    }
  }

  private requireNudge({ request: { headers }, body }: Question): void {
    const { client, secrets } = this.options;
    const id = headers['webhook-id'];
    const timestamp = headers['webhook-timestamp'];
    const given = headers['webhook-signature'];
    if (typeof id !== 'string' || typeof timestamp !== 'string' || typeof given !== 'string')
      throw new Refusal('nudge_malformed');
    if (id === '' || !/^\d{1,12}$/.test(timestamp)) throw new Refusal('nudge_malformed');
    const signed = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
    const expected = secrets.map((secret) => hmac(hmac(secret, `identity webhooks v1 ${client}`), signed));
    const signatures = given
      .split(' ', 16)
      .filter((text) => text.startsWith('v1,'))
      .map((text) => Buffer.from(text.slice(3), 'base64'));
    if (!expected.some((one) => signatures.some((other) => isSame(one, other))))
      throw new Refusal('nudge_signature_wrong');
    if (Math.abs(this.now() - Number(timestamp)) > nudgeSeconds) throw new Refusal('nudge_too_old');
    const nudge = readJson(body, 'nudge_malformed') as { client?: unknown; latest?: unknown } | null;
    if (nudge?.client !== client || !Number.isSafeInteger(nudge.latest) || Number(nudge.latest) < 0)
      throw new Refusal('nudge_malformed');
  }

  /**
   * Reads events until there are no more. Only one read is at work. If somebody asks for another during the read, the read
   * begins again at its end.
   */
  protected async pull(): Promise<void> {
    this.isAskedAgain = true;
    if (this.isReading || !this.options.serviceUrl) return;
    this.isReading = true;
    try {
      while (this.isAskedAgain) {
        this.isAskedAgain = false;
        await this.readEvents();
      }
    } catch {
      // The next nudge or the next poll tries again from the same position.
    } finally {
      this.isReading = false;
    }
  }

  protected async readEvents(): Promise<void> {
    for (;;) {
      const { status, answer } = await this.ask(1_000);
      if (status === 410 && Number.isSafeInteger(answer.oldest) && answer.oldest - 1 !== this.position) {
        this.startOver();
        this.position = answer.oldest - 1;
        continue;
      }
      if (status !== 200) throw new Error(`/sso/events answered ${status}`);
      // Asking for the empty page at the end tells the service that all was read.
      if (answer.events.length === 0) return;
      for (const event of answer.events) {
        if (event.seq !== this.position + 1) throw new Error('/sso/events left something out');
        this.applyEvent(event);
        this.position = event.seq;
      }
    }
  }

  protected async ask(
    limit: number,
  ): Promise<{ status: number; answer: { events: Event[]; latest: number; oldest: number } }> {
    const { serviceUrl = '', client, secrets } = this.options;
    let status = 0;
    for (const secret of secrets) {
      const token = hmac(secret, `identity events v1 ${client}`).toString('hex');
      const response = await fetch(
        `${serviceUrl.replace(/\/$/, '')}/sso/events?after=${this.position}&limit=${limit}`,
        {
          headers: { Authorization: `Bearer ${token}` },
          redirect: 'manual',
          signal: AbortSignal.timeout(10_000),
        },
      );
      status = response.status;
      // During a rotation, the service may have only one of the two secrets.
      if (status !== 401) return { status, answer: await response.json() };
      await response.body?.cancel();
    }
    throw new Error(`/sso/events answered ${status}`);
  }

  protected applyEvent({ type, sid, user_id: subject, occurred_at: occurredAt = '', profile }: Event): void {
    if (type === 'session.ended' && sid !== undefined) {
      this.endedSids.add(sid);
      this.endSessionsOf(sid);
    }
    if (type === 'user.suspended' && subject !== undefined)
      this.endSessionsOfPerson(subject, Date.parse(occurredAt) || Number.POSITIVE_INFINITY);
    if (type === 'user.deleted' && subject !== undefined) {
      this.deleted.add(subject);
      this.endSessionsOfPerson(subject, Number.POSITIVE_INFINITY);
      for (const [key, person] of this.people)
        if (person.subject === subject)
          this.people.set(key, { ...person, name: '', email: '', role: '', capabilities: [] });
    }
    if (isProfile(profile) && !this.deleted.has(profile.id)) this.savePerson(profile);
  }
}
