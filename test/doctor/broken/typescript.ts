// Thirty clients and some more, each as an ordinary engineer would write it, and each with one fault that `is('…')` turns on.
// `/right/…` has no fault. The doctor has to find each fault, and nothing else. The clients share no code with the service, and
// each keeps its data in memory under its name. Only `/kit/…` uses the kit.
import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pathToFileURL } from 'node:url';
import refusals from '../../../clients/refusals.json' with { type: 'json' };
import { pullEvents } from './events.ts';
import { decode, isReturnTo, type Json, parse, Refusal, requireMembers } from './payloads.ts';
import { sessions } from './sessions.ts';
import { createKitClient } from './typescript-kit.ts';

export type ClientOptions = {
  issuer: string;
  client: string;
  secrets: string[];
  ttlSeconds: number;
  isHttps?: boolean;
  /** In Unix seconds. */
  now?: () => number;
  /** The URL of the service from which the client reads events after a nudge. */
  pullsFrom?: string;
  /** Replaces the store of nonces in memory. Returns whether the nonce was new. */
  consumeNonce?: (nonce: string) => Promise<boolean>;
  /** Replaces the random value of a session. */
  createSession?: (user: User) => string;
  /** Replaces a page that names only the person who is logged in. */
  renderPage?: (user: User | undefined, users: User[]) => string;
};

export type User = {
  id: string;
  name: string;
  email: string;
  role: string;
  capabilities: string[];
  updatedAt: string;
  /** Whether the person has had more rights before. They stay, although the role has changed. */
  wasMore?: boolean;
};
export type Site = {
  users: User[];
  sessions: Map<string, User>;
  /** The login of each session. */
  sids: Map<string, string>;
  nonces: Set<string>;
  /** What events have said: which event was read last, which logins have ended, and who is suspended. */
  after: number;
  ended: Set<string>;
  blocked: Set<string>;
  /** The ids of people whose next page says that their profile was updated. */
  news: Set<string>;
  pull: Promise<void>;
  /** The person of the last request, kept where other requests can see it. */
  current?: User | undefined;
};
type Question = {
  request: IncomingMessage;
  url: URL;
  path: string;
  cookies: Map<string, string>;
  body: Buffer;
  site: Site;
  is: (fault: string) => boolean;
};
type Reply = { status: number; headers?: Record<string, string | string[]>; text?: string };
const leewaySeconds = 30;
const attemptSeconds = 600;
const maxAttempts = 5;
const clock = () => Math.floor(Date.now() / 1_000);
const createToken = () => randomBytes(16).toString('base64url');

export function createClients(options: ClientOptions) {
  const { issuer, client, secrets, ttlSeconds, now = clock } = options;
  const flags = `HttpOnly; SameSite=Lax${options.isHttps ? '; Secure' : ''}`;
  const requests = new Map<string, number>();
  const sites = new Map<string, Site>();

  function startLogin(question: Question): Reply {
    const { request, url, path, cookies, is } = question;
    const state = is('state_guessable') ? `${client}-login-attempt-${Date.now()}` : createToken();
    const old = [...cookies].filter(([name]) => name.startsWith('attempt_'));
    const dropped = old.sort(([, a], [, b]) => Number(a) - Number(b)).slice(0, 1 - maxAttempts);
    const [name, value] = is('one_state_cookie') ? ['attempt', state] : [`attempt_${state}`, String(now())];
    const asked = url.searchParams.get('next') ?? '';
    if (is('login_leads_on') && asked && findPerson(question))
      return { status: 303, headers: { location: asked } };
    const query = new URLSearchParams({ state, return_to: `${path}/` });
    const host = String(request.headers['x-forwarded-host'] ?? '');
    const base = is('launch_elsewhere')
      ? 'https://id.elsewhere.test'
      : is('host_followed') && host
        ? `https://${host}`
        : issuer;
    const kept = is('attempt_cookie_strict') ? flags.replace('Lax', 'Strict') : flags;
    return {
      status: 303,
      headers: {
        ...(is('login_start_cached') && { 'cache-control': 'private, max-age=600' }),
        location: `${base}/sso/launch/${client}?${query}`,
        'set-cookie': [
          `${name}=${value}; Path=${path}; Max-Age=${attemptSeconds}; ${kept}`,
          `page=${encodeURIComponent(asked)}; Path=${path}; Max-Age=${attemptSeconds}; ${kept}`,
          ...dropped.map(([name]) => `${name}=; Path=${path}; Max-Age=0; ${flags}`),
        ],
      },
    };
  }

  function isAsked({ cookies, is }: Question, state: string): boolean {
    if (is('state_not_compared')) return true;
    if (is('one_state_cookie')) return cookies.get('attempt') === state;
    return now() < Number(cookies.get(`attempt_${state}`) ?? 0) + attemptSeconds;
  }

  async function receiveHandOff(question: Question): Promise<Reply> {
    const { request, url, path, site, cookies, is } = question;
    const query = url.searchParams;
    const elsewhere = `http://localhost:${request.socket.localPort}`;
    const state = readOnce(query, 'state');
    const error = readOnce(query, 'error');
    if (error !== undefined) {
      if (is('error_logs_out')) site.sessions.delete(cookies.get('session') ?? '');
      if (is('error_loops')) return { status: 303, headers: { location: `${path}/login` } };
      if (!isAsked(question, state ?? '')) throw new Refusal('state_unknown');
      throw new Refusal(refusals.some(({ code }) => code === error) ? error : 'error_unknown', error);
    }
    const payload = await verify(question, query);
    if (is('nonce_before_state') && !(await consumeNonce(question, payload.nonce)))
      throw new Refusal('nonce_replayed');
    if (payload.state === undefined && !is('state_missing_accepted')) {
      if (is('unsolicited_uses_nonce')) await consumeNonce(question, payload.nonce);
      if (is('unsolicited_refused')) throw new Refusal('state_unknown');
      // A site that is opened as localhost and has 127.0.0.1 in its settings, or vice versa.
      if (is('other_origin')) {
        return { status: 303, headers: { location: `${elsewhere}${path}/login` } };
      }
      const location = findPerson(question) ? `${path}/` : `${path}/login`;
      return { status: 303, headers: { location, 'identity-refusal': 'state_missing' } };
    }
    if (payload.state !== undefined && !isAsked(question, payload.state)) {
      if (is('state_unknown_loops')) return { status: 303, headers: { location: `${path}/login` } };
      throw new Refusal('state_unknown');
    }
    const isUsed =
      !is('nonce_before_mac') &&
      !is('nonce_before_state') &&
      !(await consumeNonce(question, payload.nonce, payload.exp));
    if (isUsed && is('second_submit_logs_out')) site.sessions.delete(cookies.get('session') ?? '');
    if (isUsed) throw new Refusal('nonce_replayed');
    if (site.ended.has(payload.sid) || site.blocked.has(payload.profile.id))
      throw new Refusal('session_ended');
    const user = (is('earlier_login_kept') && findPerson(question)) || findUser(question, payload.profile);
    const made = sessions[path.slice(1)]?.make(user, payload.sid ?? createToken(), site);
    const id =
      (is('session_fixed') && cookies.get('session')) ||
      (is('session_kept') && findPerson(question) && cookies.get('session')) ||
      made ||
      options.createSession?.(user) ||
      createToken();
    site.sessions.set(id, user);
    if (is('newest_login_only'))
      for (const [value, each] of site.sessions) if (each === user) site.sids.delete(value);
    site.sids.set(id, payload.sid);
    const asked = decodeURIComponent(cookies.get('page') ?? '');
    const isOpen = is('page_not_checked') || isReturnTo(asked, false);
    const target = (isOpen && asked) || (payload.return_to ?? `${path}/`);
    const paths = is('session_not_kept')
      ? ['/elsewhere']
      : is('two_paths')
        ? [path, `${path}/admin`]
        : [path];
    // This page leads the browser on immediately. So the browser sends a cookie with SameSite=Strict.
    const goesOn = is('goes_on');
    return {
      status: goesOn ? 200 : 303,
      ...(goesOn && { text: `<meta http-equiv="refresh" content="0;url=${target}">` }),
      headers: {
        ...(goesOn && { 'content-type': 'text/html' }),
        location: is('host_header_followed')
          ? `${options.isHttps ? 'https' : 'http'}://${request.headers.host}${target}`
          : is('leads_elsewhere')
            ? `${elsewhere}${path}/`
            : target,
        'set-cookie': is('nobody_logged_in')
          ? []
          : [
              ...paths.map((each) => `session=${id}; Path=${each}; ${withoutFlag(flags, is)}`),
              ...(is('role_cookie') ? [`role=${user.role}; Path=${path}; ${flags}`] : []),
              ...(is('further_cookies') ? listFurther(site, path) : []),
            ],
      },
    };
  }

  async function verify(question: Question, query: URLSearchParams): Promise<Json> {
    const { is } = question;
    const wire = readOnce(query, 'payload', is('payload_repeated')) ?? '';
    const signature = readOnce(query, 'signature', is('signature_repeated')) ?? '';
    const next = readOnce(query, 'signature_next');
    const mayBeEmpty = is('signature_may_be_empty');
    if (!wire || (!signature && !mayBeEmpty)) throw new Refusal('parameter_missing');
    const bytes = decode(wire, is);
    const given = [signature, ...(next === undefined ? [] : [next])].map((text) =>
      is('signature_uppercase') ? text.toLowerCase() : text,
    );
    if (!given.every((text) => /^[0-9a-f]{64}$/.test(text) || (mayBeEmpty && !text)))
      throw new Refusal('signature_malformed');
    if (is('nonce_before_mac')) {
      const [, nonce = ''] = /"nonce":"([^"]*)"/.exec(bytes.toString()) ?? [];
      if (!(await consumeNonce(question, nonce))) throw new Refusal('nonce_replayed');
    }
    const counted = is('signature_next_ignored') ? given.slice(0, 1) : given;
    const digits = is('mac_compared_in_part') ? 32 : 64;
    const isGenuine = (is('key_known') ? [...secrets, ''] : secrets).some((secret) => {
      const expected = createHmac('sha256', secret)
        .update(is('mac_over_json') ? bytes : wire)
        .digest('hex')
        .slice(0, digits);
      return counted.some((text) => isEqual(expected, text.slice(0, digits)));
    });
    const isLet = is('mac_not_checked') || (mayBeEmpty && !signature);
    if (!isGenuine && !isLet) throw new Refusal('signature_wrong');
    const payload = parse(bytes, is);
    requireMembers(payload, is);
    const isIssuer = is('issuer_in_part') ? payload.iss.startsWith(issuer) : payload.iss === issuer;
    if (!isIssuer && !is('issuer_not_checked')) throw new Refusal('issuer_wrong', payload.iss);
    if (payload.aud !== client && !is('audience_not_checked')) throw new Refusal('audience_wrong');
    if (payload.client !== client && !is('client_not_checked')) throw new Refusal('audience_wrong');
    requireTimely(payload, is);
    return payload;
  }

  function requireTimely({ iat, exp }: { iat: number; exp: number }, is: Question['is']): void {
    const leeway = is('leeway_too_long') ? 3_600 : is('leeway_missing') ? 0 : leewaySeconds;
    if (iat > now() + leeway && !is('future_not_checked')) throw new Refusal('issued_in_future');
    if (now() >= exp + leeway && !is('expiry_not_checked')) throw new Refusal('expired');
    const isRightLength = exp > iat && (exp - iat <= ttlSeconds || is('lifetime_not_checked'));
    if (!isRightLength) throw new Refusal('lifetime_wrong');
  }

  async function consumeNonce(
    { site, is }: Question,
    given: string,
    exp = Number.POSITIVE_INFINITY,
  ): Promise<boolean> {
    const nonce = is('nonce_mistaken') ? given.toLowerCase() : given;
    if (is('nonce_not_checked')) return true;
    if (is('nonce_kept_too_short') && now() >= exp) return true;
    if (options.consumeNonce)
      return options.consumeNonce(nonce).catch(() => Promise.reject(new Refusal('store_unavailable')));
    const isNew = !site.nonces.has(nonce);
    if (is('nonce_not_atomic')) await new Promise((done) => setTimeout(done, 50));
    site.nonces.add(nonce);
    if (is('few_nonces') && site.nonces.size > 25) site.nonces.delete([...site.nonces][0] ?? '');
    return isNew;
  }

  /** Creates or updates the local user of a person, and returns it. */
  function findUser({ site, is }: Pick<Question, 'site' | 'is'>, profile: Json, mayBeOlder = false): User {
    const { id, name, email, role, account, profile_updated_at: updatedAt } = profile;
    const capabilities = [...(account?.capabilities ?? [])];
    const user = site.users.find((each) => each.id === id || (is('linked_by_email') && each.email === email));
    if (!user) {
      const made = { id, name, email, role, capabilities, updatedAt };
      site.users.push(made);
      return made;
    }
    if (is('newer_profile_ignored')) return user;
    if (is('features_kept') && role !== 'customer') user.wasMore = true;
    if (is('role_kept')) capabilities.push(...user.capabilities);
    const cut = (time: string) => (is('whole_seconds') ? time.slice(0, 19) : time);
    if (cut(updatedAt) > cut(user.updatedAt)) site.news.add(id);
    if (cut(updatedAt) > cut(user.updatedAt) || mayBeOlder || is('older_profile_applied'))
      Object.assign(user, { name, email, role, capabilities, updatedAt });
    return user;
  }

  function findPerson({ path, site, cookies }: Question): User | undefined {
    const value = cookies.get('session') ?? '';
    const { read } = sessions[path.slice(1)] ?? {};
    return read ? read(value, site) : site.sessions.get(value);
  }

  function receiveNudge({ request, body, site, is }: Question): Reply {
    const header = (name: string) => String(request.headers[name] ?? '');
    const [id, timestamp] = [header('webhook-id'), header('webhook-timestamp')];
    if (!id || !/^\d{10}$/.test(timestamp)) throw new Refusal('nudge_malformed');
    if (Math.abs(now() - Number(timestamp)) > 300 && !is('events_timestamp_not_checked'))
      throw new Refusal('nudge_too_old');
    const isGenuine = secrets.some((secret) => {
      const key = createHmac('sha256', secret).update(`identity webhooks v1 ${client}`).digest();
      const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64');
      return header('webhook-signature')
        .split(' ')
        .slice(0, is('events_second_signature_ignored') ? 1 : undefined)
        .some((given) => isEqual(given, `v1,${expected}`));
    });
    if (!isGenuine && !is('events_signature_not_checked')) throw new Refusal('nudge_signature_wrong');
    // The client pulls before it answers the nudge, and the pull gets no answer.
    if (is('pull_failed')) throw new Refusal('store_unavailable');
    const {
      pullsFrom: from,
      secrets: [secret = ''],
    } = options;
    const save = (profile: Json, mayBeOlder: boolean) => findUser({ site, is }, profile, mayBeOlder);
    if (from)
      site.pull = site.pull.then(() => pullEvents({ site, from, client, secret, is, save })).catch(() => {});
    return { status: is('events_nudge_refused') ? 404 : 204 };
  }

  function logOut({ path, site, cookies, is }: Question): Reply {
    if (!is('log_out_keeps_session')) site.sessions.delete(cookies.get('session') ?? '');
    const cookie = `session=; Path=${path}; Max-Age=0; ${flags}`;
    return { status: 303, headers: { location: `${path}/`, 'set-cookie': cookie } };
  }

  async function showCurrent({ site }: Question, user: User | undefined): Promise<Reply> {
    site.current = user;
    await new Promise((done) => setTimeout(done, 20));
    return { status: 200, text: site.current ? describe(site.current) : 'nobody' };
  }

  function answer(question: Question): Reply | Promise<Reply> {
    const { request, url, path, site, is } = question;
    const page = url.pathname.slice(path.length);
    if (is('nothing_there')) return { status: 404 };
    if (page === '/events') {
      if (request.method !== 'POST') throw new Refusal('method_not_allowed');
      return receiveNudge(question);
    }
    if (page === '/logout' && request.method === 'POST') return logOut(question);
    const isAhead = /prefetch/.test(String(request.headers['sec-purpose'] ?? ''));
    const isSpeculative = request.method === 'HEAD' || isAhead;
    if (isSpeculative && is('speculative_uses_nonce') && page === '/callback')
      return Promise.resolve(receiveHandOff(question)).then(() => ({ status: 204 }));
    if (isSpeculative && !is('speculative_logs_in')) return { status: 204 };
    if (request.method !== 'GET' && request.method !== 'HEAD') throw new Refusal('method_not_allowed');
    if (page === '/login') return startLogin(question);
    if (page === '/callback') return receiveHandOff(question);
    const user = findPerson(question);
    if (is('session_not_kept') && !user) return { status: 303, headers: { location: `${path}/login` } };
    if (user && (is('logs_out') || is('log_out_keeps_session')))
      return {
        status: 200,
        headers: { 'content-type': 'text/html; charset=utf-8' },
        text: `${escapeText(user.name)}<form method="post" action="${path}/logout"><button>Log out</button></form>`,
      };
    if (is('person_for_all')) return showCurrent(question, user);
    // Throws as Node does if a name cannot be in a header.
    if (is('name_in_header')) new Headers({ 'x-person': user?.name ?? '' });
    if (is('people_not_shown')) return { status: 200, text: user ? 'Hello' : 'nobody' };
    if (is('lists_logins') && user)
      return {
        status: 200,
        text: [describe(user), ...Array(site.sessions.size).fill('a new login from a browser')].join('\n'),
      };
    if (is('says_once') && user)
      return {
        status: 200,
        text: `${user.name}${site.news.delete(user.id) ? ': your profile was updated' : ''}`,
      };
    if ((is('features') || is('features_kept')) && user)
      return {
        status: 200,
        text: `${user.name}: ${user.role === 'customer' && !user.wasMore ? 'Buy' : 'Buy, sell, open a shop'}`,
      };
    if (options.renderPage) return { status: 200, text: options.renderPage(user, site.users) };
    // Leads the browser to the log-out after half an hour.
    const timeout = is('goes_on') ? '<meta http-equiv="refresh" content="1800;url=logout">' : '';
    return { status: 200, text: timeout + (user ? describe(user) : 'nobody') };
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const url = new URL(request.url ?? '/', 'http://client.test');
    const [, name = ''] = url.pathname.split('/');
    const site = sites.get(name) ?? {
      ...{ users: [], sessions: new Map(), sids: new Map(), nonces: new Set<string>() },
      ...{
        after: 0,
        ended: new Set<string>(),
        blocked: new Set<string>(),
        news: new Set<string>(),
        pull: Promise.resolve(),
      },
    };
    sites.set(name, site);
    const is = (fault: string) => fault === name;
    const path = `/${name}`;
    const question = {
      request,
      url,
      path,
      cookies: readCookies(request),
      body: Buffer.concat(chunks),
      site,
      is,
    };
    const caching =
      (is('callback_cached') && url.pathname.endsWith('/callback')) ||
      (is('page_cached') && url.pathname.endsWith('/page_cached/'))
        ? 'public, max-age=60'
        : 'no-store';
    requests.set(url.pathname, (requests.get(url.pathname) ?? 0) + 1);
    const isBusy =
      is('rate_limited') && url.pathname.endsWith('/callback') && (requests.get(url.pathname) ?? 0) > 30;
    const {
      status,
      headers,
      text = '',
    } = await reply(question, () => (isBusy ? { status: 429 } : answer(question)));
    const isRaw = is('name_unescaped') ? status === 200 : is('reason_unescaped') && status >= 400;
    const isHtml = isRaw || is('html');
    response.writeHead(status, {
      'content-type': `text/${isHtml ? 'html' : 'plain'}; charset=utf-8`,
      'cache-control': caching,
      'referrer-policy': is('referrer_sent') ? 'origin' : 'no-referrer',
      ...headers,
      // Sets the header as frameworks do: Node throws if it has a line break.
      ...(headers?.location && { location: String(headers.location).replace(/[\r\n]/g, encodeURIComponent) }),
    });
    response.end(isHtml && !isRaw ? escapeText(text) : text);
  };
}

async function reply({ is, url }: Question, answer: () => Reply | Promise<Reply>): Promise<Reply> {
  try {
    return await answer();
  } catch (error) {
    if (!(error instanceof Refusal)) return { status: 500, text: String(error) };
    const code = error.message;
    const status = refusals.find((refusal) => refusal.code === code)?.status ?? 400;
    if (is('crashes') && code === 'json_malformed') return { status: 500, text: 'SyntaxError' };
    const launch = is('launch_id_wrong') && code === 'state_unknown' && { 'identity-launch': '0000-0000' };
    return {
      status: is('refusal_status') && url.pathname.endsWith('/callback') ? 200 : status,
      headers: { 'identity-refusal': code, ...launch },
      text: `The login did not work. Code: ${code} ${error.detail}`,
    };
  }
}

const escapeText = (text: string) => text.replace(/[<>&"']/g, (mark) => `&#${mark.charCodeAt(0)};`);

const describe = ({ id, name, email, role, capabilities }: User) =>
  [id, name, email, role, ...capabilities].join('\n');

function readOnce(query: URLSearchParams, name: string, mayRepeat = false): string | undefined {
  const values = query.getAll(name);
  if (values.length > 1 && !mayRepeat) throw new Refusal('parameter_repeated');
  return values.at(-1);
}

function readCookies(request: IncomingMessage): Map<string, string> {
  const pairs = (request.headers.cookie ?? '').split('; ').map((pair) => pair.split('='));
  return new Map(pairs.map(([name = '', value = '']) => [name, value]));
}

/** Cookies that are no session. The first counts up, the second is always the same, and the third is random. */
const listFurther = ({ sessions }: Site, path: string): string[] => [
  `visits=${sessions.size}; Path=${path}; Max-Age=9999999; HttpOnly; SameSite=Lax`,
  `theme=dark-theme-of-the-shop; Path=${path}; HttpOnly; SameSite=Lax`,
  `csrf=${createToken()}; Path=${path}; SameSite=Lax`,
];

function withoutFlag(flags: string, is: Question['is']): string {
  if (is('session_cookie_readable')) return flags.replace('HttpOnly; ', '');
  if (is('session_cookie_cross_site')) return flags.replace('Lax', 'None');
  return is('same_site_missing') ? flags.replace('; SameSite=Lax', '') : flags;
}

function isEqual(one: string, other: string): boolean {
  const [a, b] = [Buffer.from(one), Buffer.from(other)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** If this file is started as a program, it prints its port. */
if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) {
  const { ISSUER = '', CLIENT = '', SECRET = '', TTL = '300' } = process.env;
  const options = { issuer: ISSUER, client: CLIENT, secrets: SECRET.split(','), ttlSeconds: Number(TTL) };
  const serve = createClients(options);
  const server = createServer((request, response) =>
    request.url?.startsWith('/kit/') ? serveKit(request, response) : serve(request, response),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const serveKit = createKitClient(`http://127.0.0.1:${port}`, options);
  process.stdout.write(`${port}\n`);
  // Ends if the parent process has ended without sending a signal.
  process.stdin.on('end', () => process.exit()).resume();
}
