// How a stranger starts logins and accepts hand-offs.
import { randomBytes } from 'node:crypto';
import { Events } from './events.ts';
import { type HandOff, isHandOff, isPath, readBase64url, readJson } from './hand-off.ts';
import { createToken, hmac, isSame } from './sessions.ts';
import { type Code, type Question, Refusal, type Reply, redirect, showHtml } from './web.ts';

export type Query = Partial<Record<'payload' | 'signature' | 'signature_next' | 'state' | 'error', string>>;

export type Attempt = { startedAt: number; maxAge: number | undefined };

const leewaySeconds = 30;
const attemptSeconds = 600;
const maxAttempts = 5;
const errors: string[] = ['login_required', 'interaction_required', 'access_denied'];
const parameters = ['payload', 'signature', 'signature_next', 'state', 'error'] as const;

export class Logins extends Events {
  private readonly nonces = new Map<string, number>();
  private readonly key = randomBytes(32);

  protected startLogin({ url, cookies }: Question): Reply {
    const state = createToken();
    const wanted = url.searchParams.get('return_to');
    const returnTo = isPath(wanted) ? String(wanted) : undefined;
    return redirect(this.buildLaunch(state, returnTo), this.startAttempt(state, cookies));
  }

  protected buildLaunch(state: string, returnTo: string | undefined): string {
    const { issuer, client } = this.options;
    const query = new URLSearchParams({ state, ...(returnTo && { return_to: returnTo }), ...this.demand() });
    return `${issuer.replace(/\/$/, '')}/sso/launch/${client}?${query}`;
  }

  /** Further parameters of a launch. */
  protected demand(): Record<string, string> {
    return {};
  }

  /** How long ago the person may have given a credential. Undefined if that does not matter. */
  protected maxAge(): number | undefined {
    return undefined;
  }

  protected startAttempt(state: string, cookies: Map<string, string>): string[] {
    const prefix = `${this.name}_attempt_`;
    const old = [...cookies]
      .filter(([name]) => name.startsWith(prefix))
      .sort(([, one], [, other]) => Number.parseInt(one, 10) - Number.parseInt(other, 10))
      .map(([name]) => name);
    const value = this.signAttempt(state, `${this.now()}.${this.maxAge() ?? ''}`);
    return [
      this.buildAttemptCookie(prefix + state, value, attemptSeconds),
      ...old.slice(0, 1 - maxAttempts).map((name) => this.buildAttemptCookie(name, '', 0)),
    ];
  }

  protected buildAttemptCookie(name: string, value: string, seconds: number): string {
    return this.buildCookie(name, value, seconds);
  }

  protected findAttempt(state: string, cookies: Map<string, string>): Attempt | undefined {
    const value = cookies.get(`${this.name}_attempt_${state}`) ?? '';
    const [startedAt = '', maxAge = ''] = value.split('.');
    if (!isSame(Buffer.from(value), Buffer.from(this.signAttempt(state, `${startedAt}.${maxAge}`))))
      return undefined;
    if (this.now() >= Number(startedAt) + attemptSeconds) return undefined;
    return { startedAt: Number(startedAt), maxAge: maxAge === '' ? undefined : Number(maxAge) };
  }

  private signAttempt(state: string, said: string): string {
    return `${said}.${hmac(this.key, `${state}.${said}`).toString('base64url')}`;
  }

  protected async takeCallback(question: Question): Promise<Reply> {
    try {
      return this.takeHandOff(question);
    } catch (error) {
      if (error instanceof Refusal) return this.refuse(question, error);
      throw error;
    }
  }

  private takeHandOff(question: Question): Reply {
    const query = this.readQuery(question);
    const { payload, signature, signature_next: next, error, state } = query;
    if (error !== undefined && [payload, signature, next].every((value) => value === undefined))
      return this.takeError(question, error, state);
    const handOff = this.verify(question, query);
    if (handOff.sid !== undefined && this.endedSids.has(handOff.sid)) throw new Refusal('session_ended');
    if (handOff.state === undefined) throw new Refusal('state_missing');
    const attempt = this.findAttempt(handOff.state, question.cookies);
    if (!attempt) throw new Refusal('state_unknown');
    const { startedAt, maxAge } = attempt;
    if (maxAge !== undefined && !((handOff.auth_time ?? 0) >= startedAt - maxAge - leewaySeconds))
      throw new Refusal('auth_time_too_old');
    if (this.deleted.has(handOff.profile.id)) throw new Refusal('person_refused');
    if (!this.consumeNonce(question, handOff)) throw new Refusal('nonce_replayed');
    const cookies = this.startSession(question, this.savePerson(handOff.profile), handOff);
    return this.welcome(handOff.return_to ?? this.home, cookies);
  }

  protected welcome(target: string, cookies: string[]): Reply {
    return redirect(target, cookies);
  }

  protected takeError({ cookies }: Question, error: string, state: string | undefined): Reply {
    if (state === undefined || !this.findAttempt(state, cookies)) throw new Refusal('state_unknown');
    throw new Refusal(errors.includes(error) ? (error as Code) : 'error_unknown');
  }

  protected readQuery({ url }: Question): Query {
    const query: Query = {};
    for (const name of parameters) {
      const [value, ...more] = url.searchParams.getAll(name);
      if (more.length > 0) throw new Refusal('parameter_repeated');
      if (value !== undefined) query[name] = value;
    }
    return query;
  }

  private verify(question: Question, { payload, signature, signature_next: next }: Query): HandOff {
    if (payload === undefined || signature === undefined) throw new Refusal('parameter_missing');
    const bytes = payload.length <= 8_192 ? readBase64url(payload) : undefined;
    if (!bytes?.length) throw new Refusal('payload_malformed');
    this.requireSigned(payload, next === undefined ? [signature] : [signature, next]);
    const handOff = readJson(this.choosePayload(question, bytes), 'json_malformed');
    if (!isHandOff(handOff)) throw new Refusal('member_wrong');
    const { issuer, client, ttlSeconds } = this.options;
    if (handOff.iss !== issuer) throw new Refusal('issuer_wrong');
    if (handOff.aud !== client || handOff.client !== client) throw new Refusal('audience_wrong');
    const { iat, exp } = handOff;
    if (!(iat <= this.now() + leewaySeconds)) throw new Refusal('issued_in_future');
    if (!(this.now() < exp + leewaySeconds)) throw new Refusal('expired');
    if (!(exp > iat && exp - iat <= ttlSeconds)) throw new Refusal('lifetime_wrong');
    return handOff;
  }

  protected choosePayload(_question: Question, bytes: Buffer): Buffer {
    return bytes;
  }

  protected requireSigned(payload: string, signatures: string[]): void {
    if (!signatures.every((signature) => /^[0-9a-f]{64}$/.test(signature)))
      throw new Refusal('signature_malformed');
    const expected = this.options.secrets.map((secret) => hmac(secret, payload));
    const given = signatures.map((signature) => Buffer.from(signature, 'hex'));
    if (!expected.some((one) => given.some((other) => isSame(one, other))))
      throw new Refusal('signature_wrong');
  }

  /** Returns whether the nonce is new. */
  protected consumeNonce(_question: Question, { nonce, exp }: HandOff): boolean {
    for (const [old, keepUntil] of this.nonces) if (keepUntil < this.now()) this.nonces.delete(old);
    if (this.nonces.has(nonce)) return false;
    this.nonces.set(nonce, exp + 60);
    return true;
  }

  protected refuse({ cookies }: Question, refusal: Refusal): Reply {
    const { code, status } = refusal;
    if (code === 'state_missing')
      return redirect(this.findSession(cookies) ? this.home : `${this.home}login`);
    const reply = this.showRefusal(refusal);
    const headers = { ...reply.headers, 'Identity-Refusal': code, ...(status === 405 && { Allow: 'GET' }) };
    return { ...reply, headers };
  }

  protected showRefusal({ code, status }: Refusal): Reply {
    const words = `<p>We could not log you in. Code: <code>${code}</code></p>
<p><a href="${this.home}login">Log in</a> <a href="${this.home}">Home</a></p>`;
    return showHtml(status, 'The login did not work', words);
  }

  protected logOut({ cookies }: Question): Reply {
    const session = this.findSession(cookies);
    if (session) this.endSession(session);
    return redirect(this.home, [this.buildCookie(`${this.name}_session`, '', 0)]);
  }
}
