// The people and sessions of a stranger, in memory.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { HandOff, Profile } from './hand-off.ts';
import { type Question, readCookies } from './web.ts';

export type StrangerOptions = {
  issuer: string;
  client: string;
  secrets: string[];
  ttlSeconds: number;
  /** In Unix seconds. */
  now?: () => number;
  /** Where events can be read. Without it, a site accepts nudges and reads nothing. */
  serviceUrl?: string;
};

export type Person = {
  /** The number of the person at this site. */
  id: number;
  subject: string;
  name: string;
  email: string;
  role: string;
  capabilities: string[];
  updatedAt: string;
};

export type Session = {
  id: string;
  person: Person;
  sid: string | undefined;
  /** When the hand-off was made, by the service's clock. */
  madeAt: number;
  endsAt: number;
};

const sessionSeconds = 4 * 3_600;

export const createToken = (): string => randomBytes(16).toString('base64url');
export const hmac = (key: string | Buffer, text: string | Buffer): Buffer =>
  createHmac('sha256', key).update(text).digest();
export const isSame = (one: Buffer, other: Buffer): boolean =>
  one.length === other.length && timingSafeEqual(one, other);

export class Sessions {
  protected readonly options: StrangerOptions;
  protected readonly name: string;
  protected readonly home: string;
  protected readonly people = new Map<string | number, Person>();
  protected readonly deleted = new Set<string>();
  protected readonly sessions = new Map<string, Session>();
  protected readonly endedSids = new Set<string>();

  constructor(options: StrangerOptions, name: string) {
    this.options = options;
    this.name = name;
    this.home = `/${name}/`;
  }

  protected now(): number {
    return this.options.now?.() ?? Math.floor(Date.now() / 1_000);
  }

  readCookies(header: string | undefined): Map<string, string> {
    return readCookies(header);
  }

  protected keyOf({ id }: Profile): string | number {
    return id;
  }

  protected isLater({ profile_updated_at: updatedAt }: Profile, kept: Person): boolean {
    return updatedAt > kept.updatedAt;
  }

  /** Keeps the later of two profiles, whether it came by a hand-off or by an event. */
  protected savePerson(profile: Profile): Person {
    const kept = this.people.get(this.keyOf(profile));
    if (kept && !this.isLater(profile, kept)) return kept;
    const { id: subject, name, email, role, account, profile_updated_at: updatedAt } = profile;
    const person = { subject, name, email, role, capabilities: account.capabilities, updatedAt };
    // Sessions hold the kept object, so they see the new profile.
    if (kept) return Object.assign(kept, person);
    const added = { id: 1_001 + this.people.size, ...person };
    this.people.set(this.keyOf(profile), added);
    return added;
  }

  /** A new session has a new id, and replaces the session that this browser had. */
  protected startSession({ cookies }: Question, person: Person, { sid, iat }: HandOff): string[] {
    const old = this.findSession(cookies);
    if (old) this.endSession(old);
    const id = this.createSessionId(person);
    this.sessions.set(id, { id, person, sid, madeAt: iat, endsAt: this.now() + sessionSeconds });
    return [this.buildCookie(`${this.name}_session`, id, sessionSeconds)];
  }

  protected createSessionId(_person: Person): string {
    return createToken();
  }

  protected findSession(cookies: Map<string, string>): Session | undefined {
    const session = this.sessions.get(cookies.get(`${this.name}_session`) ?? '');
    return session && this.now() < session.endsAt ? session : undefined;
  }

  protected endSession({ id }: Session): void {
    this.sessions.delete(id);
  }

  protected endSessionsOf(sid: string): void {
    for (const session of [...this.sessions.values()]) if (session.sid === sid) this.endSession(session);
  }

  /** Ends sessions that were started by a hand-off from before that time. */
  protected endSessionsOfPerson(subject: string, beforeMs: number): void {
    for (const session of [...this.sessions.values()])
      if (session.person.subject === subject && session.madeAt * 1_000 <= beforeMs) this.endSession(session);
  }

  protected endAllSessions(): void {
    this.sessions.clear();
  }

  protected buildCookie(name: string, value: string, seconds: number): string {
    return `${name}=${value}; Path=/${this.name}; Max-Age=${seconds}; HttpOnly; SameSite=Lax`;
  }

  /** Events are missing, so no session and no profile can be trusted. The numbers of people stay. */
  protected startOver(): void {
    this.endAllSessions();
    for (const person of this.people.values())
      Object.assign(person, { name: '', email: '', role: '', capabilities: [], updatedAt: '' });
  }
}
