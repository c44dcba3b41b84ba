// Strangers without a fault. Each does something that is unusual, and that the contract allows.
import { randomBytes, timingSafeEqual } from 'node:crypto';
import type { HandOff } from './hand-off.ts';
import { createToken, hmac, type Person, type Session } from './sessions.ts';
import { Site } from './site.ts';
import { escapeHtml, type Question, type Refusal, type Reply, redirect, showHtml } from './web.ts';

const sessionSeconds = 3_600;

/** The session is in the cookie. The server keeps only which sessions have ended. */
export class SignedCookies extends Site {
  private readonly cookieKey = randomBytes(32);
  private readonly ended = new Set<string>();
  private readonly endedUntilMs = new Map<string, number>();
  private generation = 0;

  protected override startSession({ cookies }: Question, person: Person, { sid, iat }: HandOff): string[] {
    const old = this.findSession(cookies);
    if (old) this.endSession(old);
    const said = [createToken(), person.subject, sid, iat, this.now() + sessionSeconds, this.generation];
    const text = Buffer.from(JSON.stringify(said)).toString('base64url');
    const value = `${text}.${hmac(this.cookieKey, text).toString('base64url')}`;
    return [this.buildCookie(`${this.name}_session`, value, sessionSeconds)];
  }

  protected override findSession(cookies: Map<string, string>): Session | undefined {
    const [text = '', mac = '', ...more] = (cookies.get(`${this.name}_session`) ?? '').split('.');
    const expected = hmac(this.cookieKey, text);
    const given = Buffer.from(mac, 'base64url');
    if (more.length > 0 || given.length !== expected.length || !timingSafeEqual(given, expected))
      return undefined;
    const said = JSON.parse(Buffer.from(text, 'base64url').toString());
    const [id, subject, sid, madeAt, endsAt, generation] = said;
    const person = this.people.get(subject);
    if (!person || this.now() >= endsAt || generation !== this.generation || this.ended.has(id))
      return undefined;
    if (this.endedSids.has(sid) || madeAt * 1_000 <= (this.endedUntilMs.get(subject) ?? 0)) return undefined;
    return { id, person, sid, madeAt, endsAt };
  }

  protected override endSession({ id }: Session): void {
    this.ended.add(id);
  }

  protected override endSessionsOf(sid: string): void {
    this.endedSids.add(sid);
  }

  protected override endSessionsOfPerson(subject: string, beforeMs: number): void {
    this.endedUntilMs.set(subject, Math.max(beforeMs, this.endedUntilMs.get(subject) ?? 0));
  }

  protected override endAllSessions(): void {
    this.generation += 1;
  }
}

export class OneStatus extends Site {
  protected override refuse(question: Question, refusal: Refusal): Reply {
    if (refusal.code === 'state_missing') return super.refuse(question, refusal);
    const words = `<p>Please <a href="${this.home}login">log in</a> again.</p>`;
    return showHtml(400, 'Sorry, that did not work', words);
  }
}

export class LoginPage extends Site {
  protected override startLogin(question: Question): Reply {
    const { headers = {} } = super.startLogin(question);
    const { Location: location = '', ...others } = headers;
    const launch = escapeHtml(String(location));
    const words = `<p>You are on your way to our login. <a href="${launch}">Go on</a></p>`;
    const page = showHtml(200, 'One moment', words);
    const refresh = `<meta http-equiv="refresh" content="0; url=${launch}"></head>`;
    return {
      status: 200,
      headers: { ...page.headers, ...others },
      text: page.text?.replace('</head>', () => refresh) ?? '',
    };
  }
}

export class TwoPages extends Site {
  private readonly targets = new Map<string, string>();

  protected override welcome(target: string, cookies: string[]): Reply {
    const visit = createToken();
    this.targets.set(visit, target);
    return redirect(`${this.home}welcome?visit=${visit}`, cookies);
  }

  protected override showMore(question: Question): Reply {
    const { page, url } = question;
    const visit = url.searchParams.get('visit') ?? '';
    if (page === 'welcome') return redirect(`${this.home}ready?visit=${encodeURIComponent(visit)}`);
    if (page !== 'ready') return super.showMore(question);
    const target = this.targets.get(visit) ?? this.home;
    this.targets.delete(visit);
    return redirect(target);
  }
}

export class JsonPages extends Site {
  protected override showHome({ cookies }: Question): Reply {
    const person = this.findSession(cookies)?.person;
    if (!person) return this.showJson({ user: null, login: `${this.home}login` });
    const { id, name, role, capabilities } = person;
    return this.showJson({ user: { id, name, role, capabilities }, logout: `${this.home}logout` });
  }

  protected override showAccount(question: Question): Reply {
    const person = this.findSession(question.cookies)?.person;
    if (!person) return super.showAccount(question);
    return this.showJson({ id: person.id, name: person.name, email: person.email });
  }

  private showJson(value: unknown): Reply {
    return { status: 200, headers: { 'Content-Type': 'application/json' }, text: JSON.stringify(value) };
  }
}

export class UpperCase extends Site {
  protected override showHome({ cookies }: Question): Reply {
    const person = this.findSession(cookies)?.person;
    if (!person)
      return showHtml(200, 'SHOP', `<p>NOBODY IS HERE. <a href="${this.home}login">LOG IN</a></p>`);
    const words = `<p>HELLO ${escapeHtml(person.name.toUpperCase())}, CUSTOMER ${person.id}.</p>
<p>${escapeHtml(person.role.toUpperCase())} <a href="${this.home}logout">LOG OUT</a></p>`;
    return showHtml(200, 'SHOP', words);
  }
}

/** The page is the same for everybody, and its script asks who is logged in. */
export class ScriptPage extends Site {
  protected override showHome(): Reply {
    const page = showHtml(
      200,
      'Shop',
      `<p id="who"></p><p><a href="${this.home}login">Log in</a> <a href="${this.home}logout">Log out</a></p>
<script src="${this.home}app.js"></script>`,
    );
    const policy = "default-src 'none'; script-src 'self'; connect-src 'self'; frame-ancestors 'none'";
    return { ...page, headers: { ...page.headers, 'Content-Security-Policy': policy } };
  }

  protected override showMore(question: Question): Reply {
    if (question.page === 'app.js') {
      const text = `fetch(${JSON.stringify(`${this.home}me`)})
  .then((response) => response.json())
  .then(({ user }) => {
    document.getElementById('who').textContent = user ? user.name + ' (' + user.id + ')' : 'Nobody is logged in.';
  });
`;
      return { status: 200, headers: { 'Content-Type': 'text/javascript; charset=utf-8' }, text };
    }
    if (question.page !== 'me') return super.showMore(question);
    const person = this.findSession(question.cookies)?.person;
    const user = person ? { id: person.id, name: person.name, role: person.role } : null;
    return { status: 200, headers: { 'Content-Type': 'application/json' }, text: JSON.stringify({ user }) };
  }
}

/** Counts visitors by a cookie of its own, which stays the same through a login and gives no right to anything. */
export class Visitors extends Site {
  override async answer(question: Question): Promise<Reply> {
    const reply = await super.answer(question);
    const name = `${this.name}_visitor`;
    if (question.page === 'events' || reply.status === 204 || question.cookies.has(name)) return reply;
    const cookies = [reply.headers?.['Set-Cookie'] ?? []].flat();
    cookies.push(this.buildCookie(name, createToken(), 365 * 86_400));
    return { ...reply, headers: { ...reply.headers, 'Set-Cookie': cookies } };
  }
}

export class German extends Site {
  protected override showHome({ cookies }: Question): Reply {
    const person = this.findSession(cookies)?.person;
    const logIn = `<p>Niemand ist angemeldet.</p><p><a href="${this.home}login">Anmelden</a></p>`;
    if (!person) return showHtml(200, 'Laden', logIn, 'de');
    const roles: Record<string, string> = {
      admin: 'Verwaltung',
      merchant: 'Händler',
      customer: 'Kundschaft',
    };
    const words = `<p>Angemeldet als ${escapeHtml(person.name)} (Nr. ${person.id}, ${roles[person.role]}).</p>
<p><a href="${this.home}logout">Abmelden</a></p>`;
    return showHtml(200, 'Laden', words, 'de');
  }

  protected override showAccount(question: Question): Reply {
    const person = this.findSession(question.cookies)?.person;
    if (!person) return super.showAccount(question);
    const words = `<p>${escapeHtml(person.name)}, Nr. ${person.id}, ${escapeHtml(person.email)}</p>`;
    return showHtml(200, 'Ihr Konto', words, 'de');
  }

  protected override showRefusal({ status }: Refusal): Reply {
    const words = `<p>Die Anmeldung hat nicht geklappt. <a href="${this.home}login">Neu anmelden</a></p>`;
    return showHtml(status, 'Leider nein', words, 'de');
  }
}
