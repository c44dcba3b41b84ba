// Strangers with one fault each. A team could ship each of these faults without noticing.
import { timingSafeEqual } from 'node:crypto';
import type { HandOff, Profile } from './hand-off.ts';
import type { Attempt, Query } from './logins.ts';
import { createToken, hmac, type Person, type Session } from './sessions.ts';
import { Site } from './site.ts';
import { type Question, Refusal, type Reply, redirect } from './web.ts';

export class StatesOfEverybody extends Site {
  private readonly states = new Map<string, number>();

  protected override startAttempt(state: string): string[] {
    this.states.set(state, this.now());
    return [];
  }

  protected override findAttempt(state: string): Attempt | undefined {
    const startedAt = this.states.get(state);
    if (startedAt === undefined || this.now() >= startedAt + 600) return undefined;
    return { startedAt, maxAge: undefined };
  }
}

export class StrictAttempt extends Site {
  protected override buildAttemptCookie(name: string, value: string, seconds: number): string {
    return this.buildCookie(name, value, seconds).replace('SameSite=Lax', 'SameSite=Strict');
  }
}

export class SilentLoop extends Site {
  protected override showHome(question: Question): Reply {
    const { cookies } = question;
    if (this.findSession(cookies)) return super.showHome(question);
    const state = createToken();
    return redirect(`${this.buildLaunch(state, this.home)}&prompt=none`, this.startAttempt(state, cookies));
  }

  protected override takeError(question: Question, error: string, state: string | undefined): Reply {
    if (error === 'login_required' && state && this.findAttempt(state, question.cookies))
      return redirect(this.home);
    return super.takeError(question, error, state);
  }
}

export class ShortSignature extends Site {
  protected override requireSigned(payload: string, signatures: string[]): void {
    const isSigned = this.options.secrets.some((secret) =>
      signatures.some((signature) => {
        const expected = hmac(secret, payload);
        const given = Buffer.from(signature, 'hex');
        // timingSafeEqual throws if the lengths differ, so the author cut both to the shorter length.
        const length = Math.min(expected.length, given.length);
        return timingSafeEqual(expected.subarray(0, length), given.subarray(0, length));
      }),
    );
    if (!isSigned) throw new Refusal('signature_wrong');
  }
}

export class OtherPayload extends Site {
  protected override readQuery({ url }: Question): Query {
    const query: Query = {};
    for (const name of ['payload', 'signature', 'signature_next', 'state', 'error'] as const) {
      const value = url.searchParams.get(name);
      if (value !== null) query[name] = value;
    }
    return query;
  }

  protected override choosePayload({ url }: Question): Buffer {
    // If `payload` is repeated, the first one was verified, but this object has the last one.
    const { payload = '' } = Object.fromEntries(url.searchParams);
    return Buffer.from(payload, 'base64url');
  }
}

export class NoncesOfSession extends Site {
  private readonly noncesOf = new Map<string, Set<string>>();

  protected override consumeNonce({ cookies }: Question, { nonce }: HandOff): boolean {
    const session = this.findSession(cookies);
    return !(session && this.noncesOf.get(session.id)?.has(nonce));
  }

  protected override startSession(question: Question, person: Person, handOff: HandOff): string[] {
    const old = this.findSession(question.cookies);
    const nonces = new Set(old && this.noncesOf.get(old.id)).add(handOff.nonce);
    const made = super.startSession(question, person, handOff);
    const newest = [...this.sessions.keys()].at(-1);
    if (newest) this.noncesOf.set(newest, nonces);
    return made;
  }

  protected override endSession(session: Session): void {
    super.endSession(session);
    this.noncesOf.delete(session.id);
  }
}

export class ShortId extends Site {
  protected override keyOf({ id }: Profile): number {
    // The table of users has had an integer as its key for years.
    return Number.parseInt(id, 16);
  }
}

export class PromptWithoutCheck extends Site {
  protected override demand(): Record<string, string> {
    return { prompt: 'login' };
  }
}

export class CachedHome extends Site {
  private readonly cache = new Map<string, { reply: Reply; untilMs: number }>();

  protected override showHome(question: Question): Reply {
    const key = question.url.pathname;
    const cached = this.cache.get(key);
    if (cached && Date.now() < cached.untilMs) return cached.reply;
    const reply = super.showHome(question);
    this.cache.set(key, { reply, untilMs: Date.now() + 10_000 });
    return reply;
  }
}

export class PlainSessionId extends Site {
  protected override createSessionId({ id }: Person): string {
    return Buffer.from(`${id}:${this.now()}`).toString('base64url');
  }
}

export class JumpToLatest extends Site {
  protected override async readEvents(): Promise<void> {
    const { status, answer } = await this.ask(20);
    if (status === 410) {
      this.startOver();
      this.position = answer.oldest - 1;
      return;
    }
    if (status !== 200) return;
    for (const event of answer.events) this.applyEvent(event);
    this.position = answer.latest;
  }
}

export class RarePull extends Site {
  private pulledAtMs = 0;

  protected override async pull(): Promise<void> {
    if (Date.now() < this.pulledAtMs + 300_000) return;
    this.pulledAtMs = Date.now();
    await super.pull();
  }
}

export class RememberMe extends Site {
  private readonly tokens = new Map<string, Person>();

  protected override startSession(question: Question, person: Person, handOff: HandOff): string[] {
    const cookies = super.startSession(question, person, handOff);
    this.tokens.delete(this.findToken(question.cookies));
    const token = createToken();
    this.tokens.set(token, person);
    return [...cookies, this.buildCookie(`${this.name}_remember`, token, 30 * 86_400)];
  }

  protected override findSession(cookies: Map<string, string>): Session | undefined {
    const session = super.findSession(cookies);
    const person = this.tokens.get(this.findToken(cookies));
    if (session || !person) return session;
    return { id: '', person, sid: undefined, madeAt: this.now(), endsAt: this.now() + 60 };
  }

  protected override logOut(question: Question): Reply {
    this.tokens.delete(this.findToken(question.cookies));
    const names = [`${this.name}_session`, `${this.name}_remember`];
    super.logOut(question);
    return redirect(
      this.home,
      names.map((name) => this.buildCookie(name, '', 0)),
    );
  }

  private findToken(cookies: Map<string, string>): string {
    return cookies.get(`${this.name}_remember`) ?? '';
  }
}

export class WholeSeconds extends Site {
  protected override isLater({ profile_updated_at: updatedAt }: Profile, kept: Person): boolean {
    // The column is a MySQL `datetime`, which keeps no fractions.
    return updatedAt.slice(0, 19) > kept.updatedAt.slice(0, 19);
  }
}

export class FragileCookies extends Site {
  override readCookies(header = ''): Map<string, string> {
    const pairs = header.split(/; */).map((pair): [string, string] => {
      const [name = '', value = ''] = pair.split('=');
      return [name, decodeURIComponent(value)];
    });
    return new Map(pairs);
  }
}
