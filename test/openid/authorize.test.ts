// What /oauth/authorize answers to a browser (contract 14.20 to 14.39): it never sends anybody to a URL that is not registered.
// Everything else that is wrong goes back to the product.
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { beforeAll, describe, expect, it, vi } from 'vitest';
import { demoPassword } from '../../server/doors/demo/demo-users.ts';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { type Answer, codeOf, locationOf, nextStopOf, openApp, targetOf } from '../support/app/app.ts';
import { scrape } from '../support/app/metrics.ts';
import { fieldOf, logIn, openBrowser, textOf } from '../support/app/visitor.ts';
import {
  addOpenIdClient,
  alterJwt,
  authorizePath,
  decodeJwt,
  exchange,
  visit as goTo,
  logInTo,
  type OpenIdClient,
  rightRequest,
  type Parameters as Sent,
  sentBack,
  tokensOf,
} from '../support/openid/client.ts';
import { addFactor, addPerson, addSession } from '../support/people/staff.ts';
import { enterCode, readSecret, showCode } from '../support/people/totp-app.ts';
import { quote } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const html = { accept: 'text/html' };
const evil = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' };
const customer = 'customer@example.test';

type Name = 'wiki' | 'other' | 'optional' | 'state_only' | 'own_query' | 'admins' | 'vault';
const clients = {} as Record<Name, OpenIdClient>;
/** A session of somebody whom all clients but `admins` and `vault` let in. */
let cookie: string;

beforeAll(async () => {
  const facts: Record<Name, Parameters<typeof addOpenIdClient>[1]> = {
    wiki: {
      title: 'Wiki & <Co>',
      redirectUris: ['https://wiki.example.test/cb', 'https://wiki.example.test/two'],
    },
    other: {},
    optional: { pkce: 'optional' },
    state_only: { pkce: 'state-only' },
    own_query: { redirectUris: ['https://own.example.test/cb?tenant=a%20b'] },
    admins: { roles: ['admin'] },
    vault: { needsFactor: true },
  };
  const added = Object.entries(facts).map(async ([name, given]) => {
    clients[name as Name] = await addOpenIdClient(app, given);
  });
  await Promise.all(added);
  ({ cookie } = await addSession(app, (await addPerson(app)).id));
});

const ask = (name: Name, parameters: Sent = {}, options: Parameters<typeof app.send>[1] = {}) =>
  app.send(authorizePath(clients[name], parameters), { cookie, ...options });

/** The error that the product gets, `code` if it gets a code, or the status of a page. */
function outcomeOf(answer: Answer): string | number {
  const { code, error } = sentBack(answer);
  const [, form] = /name="(code|error)" value="/.exec(answer.text) ?? [];
  if (form === 'code' || code) return 'code';
  return error ?? /name="error" value="(\w+)"/.exec(answer.text)?.[1] ?? answer.status;
}

const countGrants = async () =>
  Number((await sql<{ count: string }>`select count(*) from oidc_grants`.execute(app.db)).rows[0]?.count);

/** Returns the query with one parameter sent in another way. Undefined removes it. */
const spelled = (name: Name, query: string) => `${authorizePath(clients[name])}&${query}`;

const visit = async (browser: ReturnType<typeof openBrowser>, path: string, person: string) =>
  (await goTo(app, browser, path, { email: person })).answer;

describe('a wrong client or address is a page, never a redirect (Contract 14.20)', () => {
  const uri = 'https://wiki.example.test/cb';
  const wrong: Record<string, (path: string) => string> = {
    'no client': (path) => path.replace(/client_id=\w+&/, ''),
    'no address': (path) => path.replace(/redirect_uri=[^&]+&/, ''),
    'the client twice': (path) => `${path}&client_id=${clients.wiki.name}`,
    'the address twice': (path) => `${path}&redirect_uri=${encodeURIComponent(uri)}`,
    'an empty client': (path) => path.replace(/client_id=\w+/, 'client_id='),
    'an unknown client': (path) => path.replace(/client_id=\w+/, 'client_id=nobody'),
    'a client of the hand-off': (path) => path.replace(/client_id=\w+/, 'client_id=marketplace'),
    'a member of each object': (path) => path.replace(/client_id=\w+/, 'client_id=constructor'),
    'the address of another client': (path) =>
      path.replace(/redirect_uri=[^&]+/, `redirect_uri=${encodeURIComponent(clients.other.redirectUri)}`),
    ...Object.fromEntries(
      [
        `${uri}/`,
        `${uri}?`,
        `${uri}?a=b`,
        `${uri}#`,
        `${uri} `,
        ` ${uri}`,
        'https://wiki.example.test:443/cb',
        'https://WIKI.example.test/cb',
        'https://wiki.example.test/CB',
        'https://wiki.example.test/x/../cb',
        'https://wiki.example.test/%2e/cb',
        'https://wiki.example.test/%63b',
        'https://wiki.example.test./cb',
        'https://a@wiki.example.test/cb',
        'https://evil.wiki.example.test/cb',
        'https://wiki.example.test',
        'http://wiki.example.test/cb',
        'HTTPS://wiki.example.test/cb',
        '//wiki.example.test/cb',
        '/cb',
        'javascript:alert(1)',
        `${uri}\r\nSet-Cookie: a=b`,
        `https://evil.example/?${uri}`,
      ].map((address) => [
        quote(address),
        (path: string) => path.replace(/redirect_uri=[^&]+/, `redirect_uri=${encodeURIComponent(address)}`),
      ]),
    ),
  };

  it.each(Object.entries(wrong))('%s', async (_, change) => {
    const path = change(authorizePath(clients.wiki, { prompt: 'none' }));
    const problem = await app.send(path, { cookie });
    expect([problem.status, problem.headers.get('location')]).toEqual([400, null]);
    expect(codeOf(problem)).toBe('invalid_request');
  });

  it('the page is for people, and says nothing that was sent', async () => {
    const page = await ask(
      'wiki',
      { redirect_uri: 'https://evil.example/<b>', state: 'canary' },
      { headers: html },
    );
    expect(page.status).toBe(400);
    expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(page.headers.get('refresh')).toBe(null);
    expect(textOf(page)).toContain('It is not a registered redirect URI of Wiki & <Co>.');
    expect(page.text).not.toMatch(/evil\.example|canary/);
  });
});

/** Everything that two correct implementations could decide differently, and each other rule of the request. */
const cases: [about: string, name: Name, parameters: Sent, outcome: string | number][] = [
  ['a right request', 'wiki', {}, 'code'],
  // Contract 14.24
  ['no response_type', 'wiki', { response_type: undefined }, 'invalid_request'],
  ['response_type token', 'wiki', { response_type: 'token' }, 'unsupported_response_type'],
  ['response_type code id_token', 'wiki', { response_type: 'code id_token' }, 'unsupported_response_type'],
  ['response_type none', 'wiki', { response_type: 'none' }, 'unsupported_response_type'],
  ['response_mode query', 'wiki', { response_mode: 'query' }, 'code'],
  ['response_mode form_post', 'wiki', { response_mode: 'form_post' }, 'code'],
  ['response_mode fragment', 'wiki', { response_mode: 'fragment' }, 'invalid_request'],
  ['response_mode query.jwt', 'wiki', { response_mode: 'query.jwt' }, 'invalid_request'],
  // Contract 14.25
  ['no scope', 'wiki', { scope: undefined }, 'invalid_scope'],
  ['a scope without openid', 'wiki', { scope: 'profile email' }, 'invalid_scope'],
  ['OpenID in capitals', 'wiki', { scope: 'OPENID' }, 'invalid_scope'],
  ['unknown scopes', 'wiki', { scope: 'phone  openid offline_access urn:x' }, 'code'],
  // Contract 14.26
  ['no state', 'wiki', { state: undefined }, 'code'],
  ['no nonce', 'wiki', { nonce: undefined }, 'code'],
  ['a nonce with a zero byte', 'wiki', { nonce: 'a\u0000b' }, 'invalid_request'],
  ['a nonce with a line end', 'wiki', { nonce: 'a\r\nb' }, 'invalid_request'],
  ['a nonce with a C1 control character', 'wiki', { nonce: 'a\u0085b' }, 'invalid_request'],
  ['a state with a control character', 'wiki', { state: 'a\nb' }, 'invalid_request'],
  // Contract 14.27
  ['prompt consent', 'wiki', { prompt: 'consent' }, 'code'],
  ['prompt none', 'wiki', { prompt: 'none' }, 'code'],
  ['prompt none beside login', 'wiki', { prompt: 'none login' }, 'invalid_request'],
  ['prompt none beside consent', 'wiki', { prompt: 'consent none' }, 'invalid_request'],
  ['prompt none twice', 'wiki', { prompt: 'none none' }, 'invalid_request'],
  ['prompt create', 'wiki', { prompt: 'create' }, 'invalid_request'],
  ['prompt login', 'wiki', { prompt: 'login' }, '/login'],
  ['prompt select_account', 'wiki', { prompt: 'select_account' }, '/login'],
  ['prompt login consent', 'wiki', { prompt: 'login consent' }, '/login'],
  // Contract 14.28
  ['max_age of ten digits', 'wiki', { max_age: '9999999999' }, 'code'],
  ['max_age of eleven digits', 'wiki', { max_age: '10000000000' }, 'invalid_request'],
  ['max_age with zeros', 'wiki', { max_age: '0000099999' }, 'code'],
  ['max_age below zero', 'wiki', { max_age: '-1' }, 'invalid_request'],
  ['max_age 1e3', 'wiki', { max_age: '1e3' }, 'invalid_request'],
  ['max_age in other digits', 'wiki', { max_age: '１２' }, 'invalid_request'],
  // Contract 14.29
  ['request', 'wiki', { request: 'e30.e30.' }, 'request_not_supported'],
  ['request_uri', 'wiki', { request_uri: 'https://wiki.example.test/r' }, 'request_uri_not_supported'],
  ['registration', 'wiki', { registration: '{}' }, 'registration_not_supported'],
  // Contract 14.23
  ...['claims', 'acr_values', 'resource', 'access_type', 'display', 'claims_locales', 'unknown'].map(
    (name): [string, Name, Sent, string] => [`${name} is ignored`, 'wiki', { [name]: '' }, 'code'],
  ),
  ...[
    'response_type',
    'response_mode',
    'scope',
    'state',
    'nonce',
    'prompt',
    'max_age',
    'login_hint',
    'ui_locales',
  ].map((name): [string, Name, Sent, string] => [
    `an empty ${name}`,
    'wiki',
    { [name]: '' },
    'invalid_request',
  ]),
  ['an empty id_token_hint', 'wiki', { id_token_hint: '' }, 'invalid_request'],
  ['an empty code_challenge', 'wiki', { code_challenge: '' }, 'invalid_request'],
  // Contract 14.31
  ['ui_locales', 'wiki', { ui_locales: 'de-CH de' }, 'code'],
  ['a login_hint that is no address', 'wiki', { login_hint: '"><script>' }, 'code'],
  // Contract 14.32
  [
    'required without a challenge',
    'wiki',
    { code_challenge: undefined, code_challenge_method: undefined },
    'invalid_request',
  ],
  [
    'optional with a nonce alone',
    'optional',
    { code_challenge: undefined, code_challenge_method: undefined },
    'code',
  ],
  ['optional with a challenge alone', 'optional', { nonce: undefined }, 'code'],
  [
    'optional with neither',
    'optional',
    { nonce: undefined, code_challenge: undefined, code_challenge_method: undefined },
    'invalid_request',
  ],
  [
    'state-only with a state alone',
    'state_only',
    { nonce: undefined, code_challenge: undefined, code_challenge_method: undefined },
    'code',
  ],
  ['state-only without a state', 'state_only', { state: undefined }, 'invalid_request'],
  // Contract 14.33
  ['a challenge without a method', 'wiki', { code_challenge_method: undefined }, 'invalid_request'],
  ['the method plain', 'wiki', { code_challenge_method: 'plain' }, 'invalid_request'],
  ['the method s256', 'wiki', { code_challenge_method: 's256' }, 'invalid_request'],
  ['a method without a challenge', 'state_only', { code_challenge: undefined }, 'invalid_request'],
  [
    'plain at a row that needs no challenge',
    'state_only',
    { code_challenge_method: 'plain' },
    'invalid_request',
  ],
  ['a challenge of 42 characters', 'wiki', { code_challenge: 'a'.repeat(42) }, 'invalid_request'],
  ['a challenge of 44 characters', 'wiki', { code_challenge: 'a'.repeat(44) }, 'invalid_request'],
  ['a challenge in base64', 'wiki', { code_challenge: `${'a'.repeat(42)}+` }, 'invalid_request'],
  // Contract 14.30
  ['a hint that is no token', 'wiki', { id_token_hint: 'a.b.c' }, 'invalid_request'],
];

describe('the request (Contract 14.22 to 14.33)', () => {
  it.each(cases)('%s at %s', async (_, name, parameters, outcome) => {
    const answer = await ask(name, parameters);
    if (typeof outcome === 'string' && outcome.startsWith('/')) {
      expect([answer.status, locationOf(answer).pathname]).toEqual([303, outcome]);
      return;
    }
    expect(outcomeOf(answer)).toBe(outcome);
    if (outcome === 'code' || answer.status !== 303) return;
    // Errors go to the registered redirect URI, with `iss` and `state` (Contract 14.22).
    const back = sentBack(answer);
    const { origin, pathname } = locationOf(answer);
    expect(origin + pathname).toBe(clients[name].redirectUri);
    const state = parameters.state !== undefined || 'state' in parameters ? undefined : 'the state';
    expect(back).toEqual({
      error: outcome,
      error_description: expect.stringMatching(/^[ -!#-[\]-~]+$/),
      iss: app.config.issuer,
      ...(state && { state }),
    });
  });

  it.each(['response_type', 'scope', 'state', 'nonce', 'code_challenge', 'code_challenge_method'])(
    '%s sent twice is invalid_request, with the same value too (Contract 14.23)',
    async (name) => {
      const value = rightRequest(clients.wiki)[name] ?? '';
      const answer = await app.send(spelled('wiki', new URLSearchParams({ [name]: value }).toString()), {
        cookie,
      });
      expect(sentBack(answer).error).toBe('invalid_request');
      expect(sentBack(answer).state).toBe(name === 'state' ? undefined : 'the state');
    },
  );

  it('an unknown parameter may be repeated (Contract 14.23)', async () => {
    expect(outcomeOf(await app.send(spelled('wiki', 'resource=a&resource=b&x&x'), { cookie }))).toBe('code');
  });

  it('max_age and prompt=login ask for a credential that is newer than the request (Contract 14.28)', async () => {
    const { id } = await addPerson(app);
    const old = await addSession(app, id, { authTime: new Date(Date.now() - 100_000) });
    const at = (parameters: Sent) => ask('wiki', parameters, { cookie: old.cookie });
    expect(outcomeOf(await at({ max_age: '1000' }))).toBe('code');
    expect(sentBack(await at({ max_age: '50', prompt: 'none' })).error).toBe('login_required');
    const asked = locationOf(await at({ max_age: '50' }));
    expect([asked.pathname, asked.searchParams.get('prompt'), asked.searchParams.get('why')]).toEqual([
      '/login',
      'login',
      'asked-again',
    ]);
    const next = asked.searchParams.get('next') ?? '';
    expect(next).not.toMatch(/max_age|prompt/);
    // Somebody who opens the path by hand is asked again (rule 4.12).
    expect(locationOf(await app.send(next, { cookie: old.cookie })).pathname).toBe('/login');
    expect(outcomeOf(await app.send(next, { cookie: (await addSession(app, id)).cookie }))).toBe('code');
  });

  it('a session without a credential of its own is asked for one (Contract 14.35)', async () => {
    const { id } = await addPerson(app);
    const handedOver = await addSession(app, id, { authTime: null, amr: ['ext'] });
    const at = (parameters: Sent) => ask('wiki', parameters, { cookie: handedOver.cookie });
    expect(sentBack(await at({ prompt: 'none' })).error).toBe('login_required');
    expect(locationOf(await at({})).pathname).toBe('/login');
    expect(locationOf(await at({ max_age: '9999999999' })).pathname).toBe('/login');
  });
});

describe('id_token_hint (Contract 14.30)', () => {
  it('of the same person is right, also after it has expired; of somebody else it is login_required', async () => {
    const { tokens, browser } = await logInTo(app, clients.wiki);
    const hint = tokens.id_token;
    expect(outcomeOf(await browser.send(authorizePath(clients.wiki, { id_token_hint: hint })))).toBe('code');
    for (const prompt of [undefined, 'none']) {
      const somebodyElse = sentBack(await ask('wiki', { id_token_hint: hint, prompt }));
      expect(somebodyElse).toMatchObject({ error: 'login_required', state: 'the state' });
    }
    // Nobody is logged in: the login comes first.
    expect(
      sentBack(await app.send(authorizePath(clients.wiki, { id_token_hint: hint, prompt: 'none' }))).error,
    ).toBe('login_required');
    const late = openBrowser(app.send);
    const back = await visit(
      late,
      authorizePath(clients.wiki, { id_token_hint: hint }),
      'merchant@example.test',
    );
    expect(sentBack(back)).toMatchObject({ error: 'login_required', state: 'the state' });
    const right = await visit(
      openBrowser(app.send),
      authorizePath(clients.wiki, { id_token_hint: hint }),
      customer,
    );
    expect(outcomeOf(right)).toBe('code');
    vi.useFakeTimers({ now: Date.now() + 7_200_000, toFake: ['Date'] });
    try {
      expect(outcomeOf(await browser.send(authorizePath(clients.wiki, { id_token_hint: hint })))).toBe(
        'code',
      );
    } finally {
      vi.useRealTimers();
    }
  });

  it('of another client, altered, or without a signature is invalid_request', async () => {
    const { tokens, browser } = await logInTo(app, clients.wiki);
    const { id_token: hint, access_token } = tokens;
    const none = `${alterJwt(hint, {}, { alg: 'none' }).split('.').slice(0, 2).join('.')}.`;
    const wrong = [
      alterJwt(hint, { sub: 'somebody' }),
      alterJwt(hint, {}, { kid: 'none' }),
      none,
      access_token,
      `${hint}x`,
    ];
    for (const each of wrong)
      expect(outcomeOf(await browser.send(authorizePath(clients.wiki, { id_token_hint: each })))).toBe(
        'invalid_request',
      );
    expect(outcomeOf(await browser.send(authorizePath(clients.other, { id_token_hint: hint })))).toBe(
      'invalid_request',
    );
  });
});

describe('what the product sent comes back as it came', () => {
  const states: Record<string, string> = {
    emoji: '🦊 naïve – 漢字',
    'characters of queries': `a+b %41 %zz &c=d;e#f?g/h\\i"'<>{}|^~\`[]`,
    'a URL': 'https://wiki.example.test/a?b=c&d=e#f',
    JSON: JSON.stringify({ a: '"', b: ['\\', '/'], iss: 'x', code: 'y' }),
    'leading and trailing spaces': '  a  ',
    'a right-to-left mark': '\u202eabc\u200b',
    '7,000 characters': 'S'.repeat(7_000),
    'nearly all that fits, escaped': '"'.repeat(2_400),
  };

  it.each(Object.entries(states))(
    'state of %s, through the login (Contract 14.26 and 14.36)',
    async (_, state) => {
      const browser = openBrowser(app.send);
      const answer = await visit(
        browser,
        authorizePath(clients.wiki, { state, nonce: state.slice(0, 40) }),
        customer,
      );
      const back = sentBack(answer);
      expect(back).toEqual({ code: expect.stringMatching(/^[\w-]{43}$/), state, iss: app.config.issuer });
      const { id_token } = tokensOf(await exchange(app, clients.wiki, back.code ?? ''));
      expect(JSON.parse(Buffer.from(id_token.split('.')[1] ?? '', 'base64url').toString()).nonce).toBe(
        state.slice(0, 40),
      );
      expect(answer.headers.get('location')).toMatch(/^[!-~]+$/);
    },
  );

  it('a state that the browser leaves unescaped comes through the login, too (Contract 14.26)', async () => {
    const raw = 'a\\b|c^d`e{f}[g]h!i(j)k*l,m:n@o$p/q?r';
    const path = `${authorizePath(clients.wiki, { state: undefined })}&state=${raw}`;
    expect(sentBack(await visit(openBrowser(app.send), path, customer)).state).toBe(raw);
  });

  it("the redirect URI's own query is kept (Contract 14.36)", async () => {
    const location = (await ask('own_query')).headers.get('location') ?? '';
    expect(location.startsWith('https://own.example.test/cb?tenant=a%20b&code=')).toBe(true);
    const error = (await ask('own_query', { scope: 'none' })).headers.get('location') ?? '';
    expect(error.startsWith('https://own.example.test/cb?tenant=a%20b&error=invalid_scope&')).toBe(true);
  });

  it('form_post posts the same by a page that works without script (Contract 14.36)', async () => {
    const state = '"><script>alert(1)</script>&amp;🦊';
    const page = await ask('wiki', { state, response_mode: 'form_post' });
    expect([page.status, page.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    const policy = page.headers.get('content-security-policy') ?? '';
    expect(policy).toMatch(
      /^default-src 'none'; style-src 'sha256-[^' ]+'; script-src 'sha256-[^' ]+'; base-uri 'none'; frame-ancestors 'none'$/,
    );
    expect(page.text).not.toContain('<script>alert');
    expect(page.text).toContain('<form method="post" action="https://wiki.example.test/cb">');
    expect(page.text).toContain('<button>Continue</button>');
    expect(page.text).toContain('<title>Continue to Wiki &amp; &lt;Co&gt;</title>');
    const fields = ['code', 'state', 'iss'].map((name) => fieldOf(page, name).value);
    expect(fields).toEqual([expect.stringMatching(/^[\w-]{43}$/), state, app.config.issuer]);
    // The policy allows exactly the script and the style of the page.
    for (const tag of ['script', 'style']) {
      const inside = new RegExp(`<${tag}>([^<]*)</${tag}>`).exec(page.text)?.[1] ?? '';
      expect(policy).toContain(`${tag}-src 'sha256-${createHash('sha256').update(inside).digest('base64')}'`);
    }
    const refused = await ask('wiki', { response_mode: 'form_post', scope: 'none' });
    expect(fieldOf(refused, 'error').value).toBe('invalid_scope');
  });
});

describe('the length of a query (Contract 14.21)', () => {
  const withLength = (length: number, character = 'x') => {
    const path = `${authorizePath(clients.wiki)}&unknown=`;
    return path + character.repeat(length - path.slice(path.indexOf('?') + 1).length);
  };

  it('8,000 characters are read, one more is a page', async () => {
    expect(outcomeOf(await app.send(withLength(8_000), { cookie }))).toBe('code');
    const page = await app.send(withLength(8_001), { cookie, headers: html });
    expect([page.status, page.headers.get('location')]).toEqual([414, null]);
    expect(page.text).toContain('<code>uri_too_long</code>');
    expect(codeOf(await app.send(withLength(8_001), { cookie }))).toBe('uri_too_long');
  });

  it('a query that no redirect could carry is a page instead of a login that forgets it', async () => {
    expect((await app.send(withLength(5_000, '/'))).status).toBe(414);
    const most = (length: number) => app.send(withLength(length, '/'));
    // The longest URL that does not get 414 is redirected with its whole query.
    let length = 4_800;
    while ((await most(length)).status === 414) length -= 20;
    const asked = locationOf(await app.send(`${withLength(length, '/').replace('unknown=', 'ui_locales=')}`));
    expect(asked.pathname).toBe('/login');
    expect(asked.searchParams.get('next')?.length).toBeGreaterThan(length);
  });

  it('the form of a POST has the same bound', async () => {
    const form = { ...rightRequest(clients.wiki), state: 'x'.repeat(8_000) };
    expect((await app.send('/oauth/authorize', { form })).status).toBe(414);
    expect(
      (await app.send('/oauth/authorize', { form: { ...form, state: 'x'.repeat(70_000) } })).status,
    ).toBe(413);
  });
});

describe('a POST (Contract 14.11 and 14.13)', () => {
  it('from any site is 303 to the same as GET; it reads no cookie and changes nothing', async () => {
    const before = await countGrants();
    const form = { ...rightRequest(clients.wiki), state: 'a+b &c 🦊' };
    const answer = await app.send('/oauth/authorize?client_id=other', { form, cookie, headers: evil });
    expect([answer.status, answer.headers.getSetCookie()]).toEqual([303, []]);
    const { pathname, searchParams } = locationOf(answer);
    expect([pathname, Object.fromEntries(searchParams)]).toEqual(['/oauth/authorize', form]);
    expect(await countGrants()).toBe(before);
    expect(sentBack(await app.send(nextStopOf(answer) ?? '', { cookie })).state).toBe(form.state);
  });

  it('that is no form is 415', async () => {
    const headers = { ...evil, 'content-type': 'application/json' };
    expect((await app.send('/oauth/authorize', { body: '{}', headers })).status).toBe(415);
  });
});

it.each([
  ['HEAD', { method: 'HEAD' }],
  ['a prefetch', { headers: { 'sec-purpose': 'prefetch;prerender' } }],
])('%s is 204 without effect (Contract 14.18)', async (_, options) => {
  const before = await countGrants();
  for (const parameters of [{}, { prompt: 'none' }, { client_id: 'nobody' }]) {
    const answer = await ask('wiki', parameters, options);
    expect([answer.status, answer.headers.get('location'), answer.text]).toEqual([204, null, '']);
  }
  expect(await countGrants()).toBe(before);
});

it('every answer is kept nowhere, and tells no other site its address (Contract 14.38)', async () => {
  const answers = [
    await ask('wiki'),
    await ask('wiki', { scope: 'none' }),
    await ask('wiki', { response_mode: 'form_post' }),
    await ask('wiki', { client_id: 'nobody' }),
    await ask('wiki', { client_id: 'nobody' }, { headers: html }),
    await ask('wiki', { prompt: 'login' }),
    await ask('admins', {}, { headers: html }),
    await ask('wiki', { state: 'x'.repeat(9_000) }),
    await ask('wiki', {}, { method: 'HEAD' }),
    await app.send('/oauth/authorize', { form: rightRequest(clients.wiki), headers: evil }),
  ];
  for (const { headers, status } of answers)
    expect([status, headers.get('cache-control'), headers.get('referrer-policy')]).toEqual([
      status,
      'no-store',
      'no-referrer',
    ]);
});

describe('who may enter (Contract 14.34)', () => {
  const later = `now() + interval '9 days'`;
  it.each([
    ['nobody', undefined, 'wiki', '/login', 'login_required'],
    ['a suspended person', 'suspended_at = now()', 'wiki', '/login', 'access_denied'],
    ['a person who leaves', `deletion_due_at = ${later}`, 'wiki', '/profile/delete', 'interaction_required'],
    [
      'an address that is not proved',
      'email_verified_at = null',
      'wiki',
      '/verify-email',
      'interaction_required',
    ],
    ['a role that may not enter', `name = 'x'`, 'admins', 403, 'access_denied'],
    ['a missing factor', `name = 'x'`, 'vault', '/profile/authenticator', 'interaction_required'],
  ] as const)('%s', async (_, set, name, page, error) => {
    const { id } = await addPerson(app);
    const session = await addSession(app, id, { amr: ['pwd'] });
    if (set) await sql`update users set ${sql.raw(set)} where id = ${id}`.execute(app.db);
    const own = set === undefined ? undefined : session.cookie;
    const before = await countGrants();
    const shown = await ask(name, {}, { cookie: own });
    expect(shown.status === 303 ? locationOf(shown).pathname : shown.status).toBe(page);
    if (shown.status === 303) {
      const next = new URL(locationOf(shown).searchParams.get('next') ?? '', app.config.baseUrl);
      expect(Object.fromEntries(next.searchParams)).toEqual(rightRequest(clients[name]));
    }
    const silent = await ask(name, { prompt: 'none' }, { cookie: own });
    expect(sentBack(silent)).toMatchObject({ error, state: 'the state', iss: app.config.issuer });
    expect(await countGrants()).toBe(before);
  });

  it('somebody with an app who has not given its code is asked for it', async () => {
    const person = await addPerson(app);
    await addFactor(app.db, person);
    const { cookie: own } = await addSession(app, person.id, { amr: ['pwd'] });
    expect(locationOf(await ask('vault', {}, { cookie: own })).pathname).toBe('/login/code');
  });

  it('the page of client_not_allowed leads to another account, or back to the product (Contract 14.34)', async () => {
    const browser = await logIn(app.send, customer);
    const state = 'a&b "c" 🦊';
    const page = await browser.send(authorizePath(clients.admins, { state }), { headers: html });
    expect(page.status).toBe(403);
    expect(textOf(page)).toContain(`${clients.admins.name} is not open to your account.`);
    const [actions = ''] = /<div class="actions">.*?<\/div>/s.exec(page.text) ?? [];
    const [other = '', home] = [...actions.matchAll(/href="([^"]*)"/g)].map(([, href = '']) =>
      href.replaceAll('&amp;', '&'),
    );
    expect(home).toBe(`${new URL(clients.admins.redirectUri).origin}/`);
    expect((await browser.send(other)).status).toBe(200);
    const { pathname, search } = targetOf(await browser.login('admin@example.test', undefined, other));
    expect(sentBack(await browser.send(pathname + search))).toEqual({
      code: expect.any(String),
      state,
      iss: app.config.issuer,
    });
  });
});

describe('the pages on the way', () => {
  const nextOf = async (parameters: Sent) => {
    const { pathname, search } = locationOf(await app.send(authorizePath(clients.wiki, parameters)));
    return pathname + search;
  };

  it('the login page names the product, and login_hint fills in the address (Contract 14.31)', async () => {
    const page = await app.send(await nextOf({ login_hint: 'Somebody+x@Example.test' }));
    expect(textOf(page)).toContain('Continue to Wiki & <Co>');
    expect(fieldOf(page, 'email').value).toBe('somebody+x@example.test');
    const emptyFor = [
      '"><script>',
      'nobody',
      `${'a'.repeat(250)}@example.test`,
      'a@b@c.test',
      'tel:+41',
      ' a@example.test',
    ];
    for (const hint of emptyFor) {
      const shown = await app.send(await nextOf({ login_hint: hint }));
      expect([shown.status, fieldOf(shown, 'email').value ?? ''], hint).toEqual([200, '']);
    }
    // For somebody who is logged in, the form has their own email address. Only the paths of OpenID Connect fill in the email
    // address of `login_hint`.
    const browser = await logIn(app.send, customer);
    const { pathname, search } = locationOf(
      await browser.send(authorizePath(clients.wiki, { login_hint: 'a@example.test', prompt: 'login' })),
    );
    expect(fieldOf(await browser.send(pathname + search), 'email').value).toBe(customer);
    for (const next of [
      '/profile?login_hint=a@example.test',
      '/sso/launch/marketplace?login_hint=a@example.test',
    ])
      expect(fieldOf(await app.send(`/login?next=${encodeURIComponent(next)}`), 'email').value ?? '').toBe(
        '',
      );
  });

  it('after a wrong password the page still leads to the product', async () => {
    const browser = openBrowser(app.send);
    const refused = await browser.login(customer, 'a wrong password', await nextOf({ state: 'a+b' }));
    const path =
      refused.status === 303
        ? locationOf(refused).pathname + locationOf(refused).search
        : await nextOf({ state: 'a+b' });
    const right = await browser.login(customer, undefined, path);
    expect(sentBack(await browser.send(targetOf(right).pathname + targetOf(right).search)).state).toBe('a+b');
  });

  it('/go leads to authorize of a row, once; back and reload lead to the product (Contract 14.19)', async () => {
    const browser = await logIn(app.send, customer);
    const path = authorizePath(clients.wiki);
    const go = await browser.send(`/go?next=${encodeURIComponent(path)}`);
    expect([go.status, nextStopOf(go)]).toEqual([200, path]);
    expect(textOf(go)).toContain('Continue to Wiki & <Co>');
    const loginPath = `/login?next=${encodeURIComponent(path)}`;
    // After the Back button, a browser sends no Sec-Fetch-User.
    const back = await browser.send(loginPath, { headers: { 'sec-fetch-mode': 'navigate' } });
    expect(locationOf(back).searchParams.has('stay')).toBe(true);
    const stays = await browser.send(locationOf(back).pathname + locationOf(back).search);
    expect([stays.status, stays.headers.get('refresh')]).toEqual([200, null]);
    expect(stays.text).toContain('href="https://wiki.example.test/"');
    for (const next of [
      '/oauth/token',
      '/oauth/authorize',
      '/oauth/authorize?client_id=nobody',
      '/oauth/authorize?client_id=marketplace',
      '/oauth/userinfo',
    ])
      expect((await browser.send(`/go?next=${encodeURIComponent(next)}`)).status, next).toBe(404);
    expect(
      (await browser.send(`/go?next=${encodeURIComponent(path)}`, { method: 'HEAD' })).headers.get('refresh'),
    ).toBe(null);
  });

  it('a second tab goes on after the login in the first', async () => {
    const browser = openBrowser(app.send);
    const [one, two] = [await nextOf({ state: 'one' }), await nextOf({ state: 'two' })];
    const first = targetOf(await browser.login(customer, undefined, one));
    const second = await browser.send(two, {
      headers: { 'sec-fetch-mode': 'navigate', 'sec-fetch-user': '?1' },
    });
    expect(targetOf(second).searchParams.get('state')).toBe('two');
    for (const { pathname, search, searchParams } of [first, targetOf(second)])
      expect(sentBack(await browser.send(pathname + search)).state).toBe(searchParams.get('state'));
  });

  it('the pages of a second factor lead on to the product, with what it sent', async () => {
    const at = Date.now();
    const { email, id } = await addPerson(app, { passwordHash: await hashPassword(demoPassword) });
    const state = 'a+b &c "d" 🦊';
    const path = authorizePath(clients.vault, { state });
    const browser = await logIn(app.send, email);
    const owed = locationOf(await browser.send(path));
    const started = locationOf(
      await browser.send(owed.pathname + owed.search, { form: { intent: 'set-up' } }),
    );
    expect(started.pathname).toBe('/profile/authenticator/set-up');
    const shown = await browser.send(started.pathname + started.search);
    const secret = readSecret(shown) ?? '';
    const codes = await browser.send(started.pathname + started.search, {
      form: { code: showCode(secret, at) },
    });
    const onward = /href="(\/oauth\/authorize[^"]*)"/.exec(codes.text)?.[1]?.replaceAll('&amp;', '&') ?? '';
    const back = sentBack(await browser.send(onward));
    expect(back).toMatchObject({ state, code: expect.any(String) });
    const { id_token } = tokensOf(await exchange(app, clients.vault, back.code ?? ''));
    expect(decodeJwt(id_token).payload).toMatchObject({ sub: id, amr: ['pwd', 'otp', 'mfa'] });
    // In another browser, the person logs in and gives the code of the app.
    const other = openBrowser(app.send);
    const login = locationOf(await other.send(path));
    const asked = locationOf(await other.login(email, undefined, login.pathname + login.search));
    expect(asked.pathname).toBe('/login/code');
    const { pathname, search } = targetOf(
      await enterCode(other, showCode(secret, at + 30_000), asked.pathname + asked.search),
    );
    expect(sentBack(await other.send(pathname + search))).toMatchObject({ state, code: expect.any(String) });
  });

  it('the offer of a passkey and the page of a planned deletion lead on, too', async () => {
    const browser = openBrowser(app.send);
    const form = { email: customer, password: demoPassword, can_add_passkey: 'yes' };
    const offered = locationOf(await browser.send(await nextOf({ state: 'a+b' }), { form }));
    expect(offered.pathname).toBe('/profile/passkeys/offer');
    const later = await browser.send(offered.pathname + offered.search, { form: { intent: 'later' } });
    expect(targetOf(later).searchParams.get('state')).toBe('a+b');
    const { id } = await addPerson(app);
    const { cookie: own } = await addSession(app, id);
    await sql`update users set deletion_due_at = now() + interval '9 days' where id = ${id}`.execute(app.db);
    const leaving = locationOf(await ask('wiki', { state: 'a+b' }, { cookie: own }));
    const kept = await app.send(leaving.pathname + leaving.search, { cookie: own, form: { intent: 'keep' } });
    expect(targetOf(kept).searchParams.get('state')).toBe('a+b');
  });

  it('a mailed link leads to where the product begins, because the attempt belongs to a browser (Contract 14.34)', async () => {
    const { id } = await addPerson(app);
    await sql`update users set email_verified_at = null where id = ${id}`.execute(app.db);
    const { cookie: own } = await addSession(app, id);
    const { pathname, search } = locationOf(await ask('wiki', {}, { cookie: own }));
    expect((await app.send(pathname + search, { cookie: own, form: {} })).status).toBe(303);
    const mail = await app.db
      .selectFrom('mails')
      .select('details')
      .where('user_id', '=', id)
      .executeTakeFirstOrThrow();
    const kept = (mail.details as { next: string }).next;
    expect(kept).toBe(`/oauth/authorize?client_id=${clients.wiki.name}`);
    const go = await app.send(`/go?next=${encodeURIComponent(kept)}`);
    expect(nextStopOf(go)).toBe('https://wiki.example.test/');
  });
});

it('the 61st code within a minute is a page, or temporarily_unavailable (Contract 14.37)', async () => {
  const person = await addPerson(app);
  const [one, two] = [await addSession(app, person.id), await addSession(app, person.id)];
  const codes = await Promise.all(Array.from({ length: 61 }, () => ask('wiki', {}, { cookie: one.cookie })));
  expect(codes.filter((answer) => outcomeOf(answer) === 'code')).toHaveLength(60);
  const page = await ask('wiki', {}, { cookie: one.cookie, headers: html });
  expect([page.status, page.headers.get('location')]).toEqual([429, null]);
  expect(page.headers.get('retry-after')).toMatch(/^\d+$/);
  expect(outcomeOf(await ask('wiki', { prompt: 'none' }, { cookie: one.cookie }))).toBe(
    'temporarily_unavailable',
  );
  expect(outcomeOf(await ask('other', {}, { cookie: one.cookie }))).toBe(429);
  expect(outcomeOf(await ask('wiki', {}, { cookie: two.cookie }))).toBe('code');
});

it('answers are counted, and no line of the log has a query (Contract 14.17 and 14.39)', async () => {
  const name = clients.optional.name;
  const countOf = async (outcome: string) =>
    (await scrape(app)).valueFor('identity_launches_total', { client: name, outcome }) ?? 0;
  const outcomes = ['code', 'login', 'login_required', 'payload'];
  const before = await Promise.all(outcomes.map(countOf));
  const from = app.logged.length;
  const { code } = sentBack(
    await ask('optional', { state: 'canary-state', login_hint: 'canary@example.test' }),
  );
  const asked = await ask('optional', { state: 'canary-state' }, { cookie: undefined });
  await app.send(locationOf(asked).pathname + locationOf(asked).search);
  await ask('optional', { prompt: 'none', nonce: 'canary-nonce' }, { cookie: undefined });
  await ask('optional', { redirect_uri: 'https://canary.example' }, { headers: html });
  await app.send('/oauth/authorize', { form: { state: 'canary' } });
  await exchange(app, clients.optional, code ?? '');
  const after = await Promise.all(outcomes.map(countOf));
  expect(after.map((each, at) => each - (before[at] ?? 0))).toEqual([1, 1, 1, 0]);
  const lines = app.logged.slice(from);
  expect(lines.find(({ fields }) => fields.path === '/oauth/authorize')?.fields).toMatchObject({
    client: name,
    status: 303,
  });
  expect(JSON.stringify(lines)).not.toMatch(/canary/);
  expect(JSON.stringify(lines)).not.toContain(code);
});

it('a challenge that a product with state-only begins to send is noted once its verifier came (Contract 14.32 and 14.91)', async () => {
  const at = async () =>
    (
      await app.db
        .selectFrom('clients')
        .select('challenge_at')
        .where('name', '=', client.name)
        .executeTakeFirstOrThrow()
    ).challenge_at;
  const client = await addOpenIdClient(app, { pkce: 'state-only' });
  const { cookie: own } = await addSession(app, (await addPerson(app)).id);
  const without = { code_challenge: undefined, code_challenge_method: undefined };
  await app.send(authorizePath(client, without), { cookie: own });
  expect(await at()).toBe(null);
  const answers = await Promise.all(
    Array.from({ length: 16 }, () => app.send(authorizePath(client), { cookie: own })),
  );
  expect(await at()).toBe(null);
  await Promise.all(answers.map((answer) => exchange(app, client, sentBack(answer).code ?? '')));
  expect(await at()).toBeInstanceOf(Date);
});
