// The requests that our service and `oidc-provider` both answer, made from tables.
import type { Answer, SendOptions } from '../app/app.ts';
import { basic, challengeOf, type OpenIdClient, rightRequest, verifier } from './client.ts';

export const kinds = ['required', 'optional', 'state-only', 'public'] as const;
export type Kind = (typeof kinds)[number];

/** One of the two services. */
export type Side = {
  issuer: string;
  clients: Record<Kind, OpenIdClient>;
  send: (path: string, options?: SendOptions) => Promise<Answer>;
  /** Returns the cookie of a new session. The session is of the same person each time, unless `who` asks for somebody else. */
  logIn: (who?: 'somebody else') => Promise<string>;
};

export type Case = {
  name: string;
  /** Sends the request, after the requests that have to come before it. */
  run: (side: Side) => Promise<Answer>;
};

/** Pairs, because a name may come twice. */
type Pairs = [string, string][];
type Change = (pairs: Pairs) => Pairs;

const pairsOf = (members: Record<string, string>): Pairs => Object.entries(members);
const encode = (pairs: Pairs) => new URLSearchParams(pairs);
const replace =
  (name: string, by: (value: string) => string[]): Change =>
  (pairs) =>
    pairs.flatMap(
      ([each, value]): Pairs => (each === name ? by(value).map((other) => [each, other]) : [[each, value]]),
    );
/** Sets the value, or adds the parameter. */
const set =
  (name: string, value: string): Change =>
  (pairs) => [...pairs.filter(([each]) => each !== name), [name, value]];
const without =
  (...names: string[]): Change =>
  (pairs) =>
    pairs.filter(([name]) => !names.includes(name));

/** What can be wrong with any parameter. */
const faults: Record<string, (value: string) => string[]> = {
  missing: () => [],
  empty: () => [''],
  'sent twice': (value) => [value, value],
  'sent twice, with another value': (value) => [value, `${value}x`],
  'with a space before it': (value) => [` ${value}`],
  'with a control character': (value) => [`${value}\u0001`],
  'in upper case': (value) => [value.toUpperCase()],
  'with a letter more': (value) => [`${value}x`],
};

// Authorize

type Asked = { kind?: Kind; who?: 'nobody'; method?: 'POST' };

async function authorize(side: Side, change: Change, { kind = 'required', who, method }: Asked = {}) {
  const pairs = change(pairsOf(rightRequest(side.clients[kind])));
  const cookie = who === 'nobody' ? undefined : await side.logIn();
  if (!method) return side.send(`/oauth/authorize?${encode(pairs)}`, { cookie });
  const answer = await side.send('/oauth/authorize', {
    method,
    body: encode(pairs),
    headers: { 'sec-fetch-site': 'cross-site' },
    cookie,
  });
  return followToItself(side, answer, cookie);
}

/**
 * Our service answers a POST with a redirect to its own path, with the form as the query (contract 14.11). This function
 * follows the redirect.
 */
async function followToItself(side: Side, answer: Answer, cookie?: string): Promise<Answer> {
  const to = answer.headers.get('location') ?? '';
  const path = to.startsWith(side.issuer) ? to.slice(side.issuer.length) : to;
  return answer.status === 303 && path.startsWith('/oauth/') ? side.send(path, { cookie }) : answer;
}

const asks = (name: string, change: Change, asked?: Asked): Case => ({
  name: `authorize: ${name}`,
  run: (side) => authorize(side, change, asked),
});

const same: Change = (pairs) => pairs;

/** The parameters of a correct request, and values for others. */
const parameters: Record<string, string | undefined> = {
  client_id: undefined,
  redirect_uri: undefined,
  response_type: undefined,
  scope: undefined,
  state: undefined,
  nonce: undefined,
  code_challenge: undefined,
  code_challenge_method: undefined,
  response_mode: 'query',
  prompt: 'consent',
  max_age: '3600',
  login_hint: 'somebody@example.test',
  ui_locales: 'de',
  display: 'page',
  acr_values: '1',
};

const faultyParameters: Case[] = Object.entries(parameters).flatMap(([name, value]) =>
  Object.entries(faults).map(([fault, by]) =>
    asks(`${name} ${fault}`, (pairs) => replace(name, by)(value ? set(name, value)(pairs) : pairs)),
  ),
);

const posted: Case[] = [
  asks('a right request by POST', same, { method: 'POST' }),
  asks('a right request by POST, of nobody', same, { method: 'POST', who: 'nobody' }),
  ...['client_id', 'redirect_uri', 'response_type', 'scope', 'code_challenge', 'state'].flatMap((name) =>
    (['missing', 'sent twice'] as const).map((fault) =>
      asks(`${name} ${fault}, by POST`, replace(name, faults[fault] ?? (() => [])), { method: 'POST' }),
    ),
  ),
];

/** Values of one parameter in a request that is otherwise correct. */
const values: Record<string, string[]> = {
  response_type: [
    'token',
    'id_token',
    'code id_token',
    'id_token code',
    'code token',
    'id_token token',
    'code id_token token',
    'none',
    'code code',
    'unknown',
  ],
  response_mode: ['fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'unknown', 'Query'],
  scope: [
    'profile',
    'openid openid',
    'openid profile email groups',
    'groups openid',
    'openid offline_access',
    'openid unknown',
    'OpenID',
    'openid  profile',
    'openid,profile',
    'openid ',
    'openid "profile"',
    'openid phone address',
  ],
  code_challenge: [
    challengeOf(verifier).slice(1),
    `${challengeOf(verifier)}=`,
    challengeOf(verifier).replace(/^./, '+'),
    challengeOf(verifier).replace(/^./, '/'),
    challengeOf(verifier).replace(/^./, '.'),
    'é'.repeat(43),
    'a'.repeat(44),
    'a'.repeat(128),
    'a'.repeat(129),
  ],
  code_challenge_method: ['plain', 's256', 'S512', 'none', 'S256 plain'],
  prompt: [
    'none',
    'login',
    'select_account',
    'create',
    'unknown',
    'none login',
    'login none',
    'none none',
    'login consent',
    'login login',
    'consent select_account',
    'NONE',
    ' none',
    'none ',
  ],
  max_age: ['0', '1', '10000', '-1', '1.5', '1e3', '0x10', '+1', ' 1', 'abc', '9999999999', '99999999999'],
  state: ['a', 'ä'.repeat(20), 'a'.repeat(3_000), '<script>', 'a b&c=d#e', '\ttab', 'line\nbreak'],
  nonce: ['a', 'ä'.repeat(20), 'a'.repeat(3_000), '<script>', 'line\nbreak'],
  request: ['eyJhbGciOiJub25lIn0.e30.', 'x'],
  request_uri: ['https://wiki.example.test/request', 'urn:ietf:params:oauth:request_uri:x', 'x'],
  registration: ['{}', 'x'],
  claims: ['{"userinfo":{"name":{"essential":true}}}', 'x', '{}'],
  resource: ['https://api.example.test'],
  access_type: ['offline'],
  claims_locales: ['de en'],
  code: ['a-code-of-somebody'],
  unknown: ['x'],
  authorization_details: ['[]'],
  dpop_jkt: ['x'],
  id_token_hint: ['x', 'x.y.z', 'eyJhbGciOiJub25lIn0.e30.'],
};

const valueCases: Case[] = Object.entries(values).flatMap(([name, list]) =>
  list.map((value) =>
    asks(
      `${name}=${value.length > 60 ? `${value.slice(0, 8)}… (${value.length})` : JSON.stringify(value)}`,
      set(name, value),
    ),
  ),
);

/** How somebody may change a redirect URI that is registered. */
export const addresses: Record<string, (uri: string) => string> = {
  'with a trailing slash': (uri) => `${uri}/`,
  'with a query': (uri) => `${uri}?a=b`,
  'with an empty query': (uri) => `${uri}?`,
  'with a fragment': (uri) => `${uri}#a`,
  'with an empty fragment': (uri) => `${uri}#`,
  'with its port': (uri) => uri.replace('.test/', '.test:443/'),
  'with another port': (uri) => uri.replace('.test/', '.test:8443/'),
  'with a host in upper case': (uri) => uri.replace('example', 'EXAMPLE'),
  'with a scheme in upper case': (uri) => uri.replace('https', 'HTTPS'),
  'with a path in upper case': (uri) => uri.replace('callback', 'Callback'),
  'with another scheme': (uri) => uri.replace('https', 'http'),
  'with ..': (uri) => uri.replace('/callback', '/x/../callback'),
  'with .. after it': (uri) => `${uri}/../other`,
  'with %2e': (uri) => uri.replace('/callback', '/x/%2e%2e/callback'),
  'with an encoded letter': (uri) => uri.replace('callback', '%63allback'),
  'with two slashes': (uri) => uri.replace('/callback', '//callback'),
  'with a backslash': (uri) => uri.replace('/callback', '\\callback'),
  'with a user': (uri) => uri.replace('https://', 'https://user@'),
  'with another host as its user': (uri) => uri.replace('https://', 'https://evil.example@'),
  'that is the user of another host': (uri) => uri.replace('/callback', '@evil.example/callback'),
  'with a subdomain': (uri) => uri.replace('https://', 'https://evil.'),
  'with a longer host': (uri) => uri.replace('.test/', '.test.evil.example/'),
  'with a dot after the host': (uri) => uri.replace('.test/', '.test./'),
  'of another host': () => 'https://evil.example/callback',
  'without its scheme': (uri) => uri.slice('https:'.length),
  'that is a path': () => '/callback',
  'of JavaScript': () => 'javascript:alert(1)',
  'that is data': () => 'data:text/html,x',
  'with a tab in it': (uri) => uri.replace('callback', 'call\tback'),
  'with a line break after it': (uri) => `${uri}\n`,
  'with a null byte': (uri) => `${uri}\0`,
};

const addressCases: Case[] = Object.entries(addresses).map(([name, by]) =>
  asks(
    `an address ${name}`,
    replace('redirect_uri', (uri) => [by(uri)]),
  ),
);

const otherAddresses: Case[] = [
  asks(
    'the second address',
    replace('redirect_uri', (uri) => [uri.replace('callback', 'second')]),
  ),
  asks(
    'an address with a query of its own',
    replace('redirect_uri', (uri) => [uri.replace('callback', 'third?a=b')]),
  ),
  {
    name: 'authorize: the address of another client',
    run: (side) => authorize(side, set('redirect_uri', side.clients.optional.redirectUri)),
  },
  asks(
    'a wrong address beside prompt=none',
    (pairs) => set('prompt', 'none')(set('redirect_uri', 'https://evil.example/')(pairs)),
    { who: 'nobody' },
  ),
];

const withoutLogin: Case[] = [
  asks('nobody', same, { who: 'nobody' }),
  ...['none', 'login', 'consent', 'select_account'].map((prompt) =>
    asks(`nobody, prompt=${prompt}`, set('prompt', prompt), { who: 'nobody' }),
  ),
  asks('nobody, max_age=1', set('max_age', '1'), { who: 'nobody' }),
  asks(
    'nobody, prompt=none and form_post',
    (pairs) => set('response_mode', 'form_post')(set('prompt', 'none')(pairs)),
    { who: 'nobody' },
  ),
  asks('prompt=none and max_age=0', (pairs) => set('max_age', '0')(set('prompt', 'none')(pairs))),
];

/** Each kind of client, with and without state, nonce and challenge. */
const subsets: Case[] = kinds.flatMap((kind) =>
  [0, 1, 2, 3, 4, 5, 6, 7].map((bits) => {
    const left = (['state', 'nonce', 'code_challenge'] as const).filter((_, at) => bits & (1 << at));
    const names = left.flatMap((name) => (name === 'code_challenge' ? [name, `${name}_method`] : [name]));
    return asks(`${kind}, without ${left.join(', ') || 'nothing'}`, without(...names), { kind });
  }),
);

const hints: Case[] = [
  ['the person’s', undefined, 'required', undefined],
  ['somebody else’s', 'somebody else', 'required', undefined],
  ['of another client', undefined, 'optional', undefined],
  ['the person’s, while nobody is logged in', undefined, 'required', 'nobody'],
  ['the person’s, prompt=none', undefined, 'required', 'none'],
  ['somebody else’s, prompt=none', 'somebody else', 'required', 'none'],
  ['of another client, prompt=none', undefined, 'optional', 'none'],
].map(([name, whose, kind, how]) => ({
  name: `authorize: a hint ${name}`,
  async run(side: Side) {
    const { id_token } = await logInAt(side, kind as Kind, whose as 'somebody else' | undefined);
    const hint = set('id_token_hint', id_token);
    if (how === 'nobody') return authorize(side, hint, { who: 'nobody' });
    return authorize(side, (pairs) => hint(how === 'none' ? set('prompt', 'none')(pairs) : pairs));
  },
}));

const altered: Case[] = Object.entries(alterations()).map(([name, alter]) => ({
  name: `authorize: a hint ${name}`,
  async run(side: Side) {
    const { id_token } = await logInAt(side, 'required');
    return authorize(side, set('id_token_hint', alter(id_token)));
  },
}));

/** What somebody may do to a token that we signed. */
function alterations(): Record<string, (token: string) => string> {
  const write = (members: object) => Buffer.from(JSON.stringify(members)).toString('base64url');
  const read = (part = '') => JSON.parse(Buffer.from(part, 'base64url').toString());
  const parts = (token: string) => token.split('.') as [string, string, string];
  return {
    'for another person': (token) => {
      const [header, payload, signature] = parts(token);
      return [header, write({ ...read(payload), sub: 'somebody' }), signature].join('.');
    },
    'with alg none': (token) => `${write({ alg: 'none' })}.${parts(token)[1]}.`,
    'with alg none, but a signature': (token) => {
      const [header, payload, signature] = parts(token);
      return [write({ ...read(header), alg: 'none' }), payload, signature].join('.');
    },
    'with alg HS256': (token) => {
      const [header, payload, signature] = parts(token);
      return [write({ ...read(header), alg: 'HS256' }), payload, signature].join('.');
    },
    'with another kid': (token) => {
      const [header, payload, signature] = parts(token);
      return [write({ ...read(header), kid: 'other' }), payload, signature].join('.');
    },
    'without its signature': (token) => token.replace(/[^.]*$/, ''),
    'with a part more': (token) => `${token}.x`,
    'with a space after it': (token) => `${token} `,
    'with padding': (token) => `${token}=`,
  };
}

// Token

type Exchange = { form: Pairs; headers: Record<string, string> };

const fieldsOf = (client: OpenIdClient, code: string): Pairs => [
  ['grant_type', 'authorization_code'],
  ['code', code],
  ['redirect_uri', client.redirectUri],
  ['code_verifier', verifier],
];

async function codeAt(side: Side, kind: Kind, change: Change = same, cookie?: string): Promise<string> {
  const pairs = change(pairsOf(rightRequest(side.clients[kind])));
  const answer = await side.send(`/oauth/authorize?${encode(pairs)}`, {
    cookie: cookie ?? (await side.logIn()),
  });
  const code = new URL(answer.headers.get('location') ?? '', side.issuer).searchParams.get('code');
  if (!code)
    throw new Error(
      `no code of ${side.issuer}: ${answer.status} ${answer.headers.get('location') ?? answer.text}`,
    );
  return code;
}

const sendForm = (side: Side, { form, headers }: Exchange) =>
  side.send('/oauth/token', {
    method: 'POST',
    body: encode(form),
    headers: { 'sec-fetch-site': 'cross-site', ...headers },
  });

/** The correct form for a code of this client. */
const right = (client: OpenIdClient, kind: Kind, code: string): Exchange =>
  kind === 'public'
    ? { form: [...fieldsOf(client, code), ['client_id', client.name]], headers: {} }
    : { form: fieldsOf(client, code), headers: { authorization: basic(client.name, client.secret) } };

const exchanges = (
  name: string,
  change: (exchange: Exchange, side: Side) => Exchange,
  { kind = 'required', asked = same }: { kind?: Kind; asked?: Change } = {},
): Case => ({
  name: `token: ${name}`,
  async run(side) {
    const code = await codeAt(side, kind, asked);
    return sendForm(side, change(right(side.clients[kind], kind, code), side));
  },
});

const inForm = (change: Change) => (exchange: Exchange) => ({ ...exchange, form: change(exchange.form) });

const faultyFields: Case[] = [
  ...['grant_type', 'code', 'redirect_uri', 'code_verifier'].flatMap((name) =>
    Object.entries(faults).map(([fault, by]) => exchanges(`${name} ${fault}`, inForm(replace(name, by)))),
  ),
  ...Object.entries(faults).map(([fault, by]) =>
    exchanges(`client_id ${fault}, of a client without secret`, inForm(replace('client_id', by)), {
      kind: 'public',
    }),
  ),
];

const posting =
  ({ name, secret }: OpenIdClient) =>
  (exchange: Exchange): Exchange => ({
    form: [...exchange.form, ['client_id', name], ['client_secret', secret]],
    headers: {},
  });

const authentications: Case[] = [
  exchanges('a right request', (exchange) => exchange),
  exchanges('a right request of a client without secret', (exchange) => exchange, { kind: 'public' }),
  exchanges('the secret in the form', (exchange, side) => posting(side.clients.required)(exchange)),
  ...Object.entries(faults).flatMap(([fault, by]) =>
    ['client_id', 'client_secret'].map((name) =>
      exchanges(`the secret in the form, ${name} ${fault}`, (exchange, side) =>
        inForm(replace(name, by))(posting(side.clients.required)(exchange)),
      ),
    ),
  ),
  exchanges('no secret', (exchange) => ({ ...exchange, headers: {} })),
  exchanges('only a client_id', (exchange, side) => ({
    form: [...exchange.form, ['client_id', side.clients.required.name]],
    headers: {},
  })),
  exchanges('Basic and an equal client_id', (exchange, side) =>
    inForm(set('client_id', side.clients.required.name))(exchange),
  ),
  exchanges('Basic and another client_id', (exchange, side) =>
    inForm(set('client_id', side.clients.optional.name))(exchange),
  ),
  exchanges('Basic and the same secret in the form', (exchange, side) => ({
    ...posting(side.clients.required)(exchange),
    headers: exchange.headers,
  })),
  exchanges('a wrong secret by Basic', (exchange, side) => ({
    ...exchange,
    headers: { authorization: basic(side.clients.required.name, 'wrong') },
  })),
  exchanges('an empty secret by Basic', (exchange, side) => ({
    ...exchange,
    headers: { authorization: basic(side.clients.required.name, '') },
  })),
  exchanges('an unknown client by Basic', (exchange) => ({
    ...exchange,
    headers: { authorization: basic('nobody', 'wrong') },
  })),
  exchanges('Basic without a colon', (exchange, side) => ({
    ...exchange,
    headers: { authorization: `Basic ${Buffer.from(side.clients.required.name).toString('base64')}` },
  })),
  exchanges('Basic that is not base64', (exchange) => ({
    ...exchange,
    headers: { authorization: 'Basic ???' },
  })),
  exchanges('Basic with a wrong percent', (exchange, side) => ({
    ...exchange,
    headers: {
      authorization: `Basic ${Buffer.from(`${side.clients.required.name}:%zz`).toString('base64')}`,
    },
  })),
  exchanges('Basic of base64url', (exchange) => ({
    ...exchange,
    headers: { authorization: 'Basic YTpi_-8' },
  })),
  exchanges('Bearer', (exchange) => ({ ...exchange, headers: { authorization: 'Bearer x' } })),
  exchanges('the word Basic in lower case', (exchange) => ({
    ...exchange,
    headers: { authorization: (exchange.headers.authorization ?? '').replace('Basic', 'basic') },
  })),
  exchanges('a client_assertion', (exchange) => ({
    form: [
      ...exchange.form,
      ['client_assertion', 'x.y.z'],
      ['client_assertion_type', 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer'],
    ],
    headers: {},
  })),
  exchanges('a secret of a client without one', inForm(set('client_secret', 'anything')), { kind: 'public' }),
  exchanges(
    'Basic of a client without a secret',
    (exchange, side) => ({
      ...exchange,
      headers: { authorization: basic(side.clients.public.name, 'anything') },
    }),
    { kind: 'public' },
  ),
];

const grants: Case[] = [
  ...[
    'refresh_token',
    'client_credentials',
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:device_code',
    'urn:ietf:params:oauth:grant-type:token-exchange',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
    'unknown',
  ].map((grant) => exchanges(`grant_type=${grant}`, inForm(set('grant_type', grant)))),
  exchanges('the code of another client', (exchange, side) => ({
    form: inForm(set('redirect_uri', side.clients.optional.redirectUri))(exchange).form,
    headers: { authorization: basic(side.clients.optional.name, side.clients.optional.secret) },
  })),
  exchanges(
    'another address of the client',
    inForm(replace('redirect_uri', (uri) => [uri.replace('callback', 'second')])),
  ),
  ...Object.entries(addresses)
    .filter((_, at) => at % 4 === 0)
    .map(([name, by]) =>
      exchanges(`an address ${name}`, inForm(replace('redirect_uri', (uri) => [by(uri)]))),
    ),
  exchanges('a code that nobody has made', inForm(set('code', 'x'.repeat(43)))),
  exchanges('a code of 5,000 characters', inForm(set('code', 'x'.repeat(5_000)))),
  exchanges('an unknown field', inForm(set('unknown', 'x'))),
  exchanges('a scope', inForm(set('scope', 'openid profile'))),
  exchanges('a resource', inForm(set('resource', 'https://api.example.test'))),
  ...Object.entries({
    'another verifier': `${verifier.slice(1)}x`,
    'the challenge as the verifier': challengeOf(verifier),
    'a verifier of 42 characters': 'a'.repeat(42),
    'a verifier of 129 characters': 'a'.repeat(129),
    'a verifier with a space': `${verifier.slice(1)} `,
    'a verifier with a letter of another alphabet': `${verifier.slice(1)}é`,
  }).map(([name, value]) => exchanges(name, inForm(set('code_verifier', value)))),
  ...(['optional', 'state-only'] as const).flatMap((kind) => {
    const asked = without('code_challenge', 'code_challenge_method');
    return [
      exchanges(`${kind}, a verifier without a challenge`, (exchange) => exchange, { kind, asked }),
      exchanges(`${kind}, neither`, inForm(without('code_verifier')), { kind, asked }),
      exchanges(`${kind}, a challenge without a verifier`, inForm(without('code_verifier')), { kind }),
      exchanges(`${kind}, both`, (exchange) => exchange, { kind }),
    ];
  }),
  {
    name: 'token: the same code again',
    async run(side) {
      const client = side.clients.required;
      const exchange = right(client, 'required', await codeAt(side, 'required'));
      await sendForm(side, exchange);
      return sendForm(side, exchange);
    },
  },
  {
    name: 'token: the code again after a wrong secret',
    async run(side) {
      const client = side.clients.required;
      const exchange = right(client, 'required', await codeAt(side, 'required'));
      await sendForm(side, { ...exchange, headers: { authorization: basic(client.name, 'wrong') } });
      return sendForm(side, exchange);
    },
  },
  {
    name: 'token: the code again after a wrong verifier',
    async run(side) {
      const exchange = right(side.clients.required, 'required', await codeAt(side, 'required'));
      await sendForm(side, inForm(set('code_verifier', 'a'.repeat(43)))(exchange));
      return sendForm(side, exchange);
    },
  },
];

const transports: Case[] = [
  ...(['GET', 'PUT', 'DELETE', 'OPTIONS'] as const).map((method) => ({
    name: `token: ${method}`,
    run: (side: Side) => side.send('/oauth/token', { method, headers: { 'sec-fetch-site': 'cross-site' } }),
  })),
  ...Object.entries({
    JSON: 'application/json',
    'a type of text': 'text/plain',
    'a type of a multipart form': 'multipart/form-data; boundary=x',
    'a charset': 'application/x-www-form-urlencoded; charset=utf-8',
  }).map(([name, type]) => ({
    name: `token: ${name}`,
    async run(side: Side) {
      const { form, headers } = right(side.clients.required, 'required', await codeAt(side, 'required'));
      const body =
        type === 'application/json' ? JSON.stringify(Object.fromEntries(form)) : String(encode(form));
      return side.send('/oauth/token', {
        method: 'POST',
        body,
        headers: { ...headers, 'content-type': type, 'sec-fetch-site': 'cross-site' },
      });
    },
  })),
  {
    name: 'token: everything in the query',
    async run(side) {
      const { form, headers } = right(side.clients.required, 'required', await codeAt(side, 'required'));
      return side.send(`/oauth/token?${encode(form)}`, {
        method: 'POST',
        body: new URLSearchParams(),
        headers: { ...headers, 'sec-fetch-site': 'cross-site' },
      });
    },
  },
  {
    name: 'token: nothing',
    run: (side) => sendForm(side, { form: [], headers: {} }),
  },
];

// Userinfo

type Tokens = { access_token: string; id_token: string };

async function logInAt(side: Side, kind: Kind, who?: 'somebody else', cookie?: string): Promise<Tokens> {
  const code = await codeAt(side, kind, same, cookie ?? (await side.logIn(who)));
  const answer = await sendForm(side, right(side.clients[kind], kind, code));
  if (answer.status !== 200) throw new Error(`no tokens of ${side.issuer}: ${answer.status} ${answer.text}`);
  return JSON.parse(answer.text);
}

const reads = (name: string, options: (token: string) => SendOptions, query = ''): Case => ({
  name: `userinfo: ${name}`,
  async run(side) {
    const { access_token } = await logInAt(side, 'required');
    const { headers, ...more } = options(access_token);
    return side.send(`/oauth/userinfo${query.replace('TOKEN', access_token)}`, {
      ...more,
      headers: { 'sec-fetch-site': 'cross-site', ...headers },
    });
  },
});

const bearer = (token: string) => ({ headers: { authorization: `Bearer ${token}` } });

const userinfos: Case[] = [
  reads('GET', bearer),
  reads('POST', (token) => ({ ...bearer(token), method: 'POST', body: new URLSearchParams() })),
  reads('the token in the form', (token) => ({
    method: 'POST',
    body: new URLSearchParams({ access_token: token }),
  })),
  reads('the token in the query', () => ({}), '?access_token=TOKEN'),
  reads('the token in the query and in the header', bearer, '?access_token=TOKEN'),
  reads('the token in the form and in the header', (token) => ({
    ...bearer(token),
    method: 'POST',
    body: new URLSearchParams({ access_token: token }),
  })),
  reads('no token', () => ({})),
  reads('an empty token', () => bearer('')),
  reads('a token that nobody has made', () => bearer('x'.repeat(43))),
  reads('a token with a letter more', (token) => bearer(`${token}x`)),
  reads('a token of 5,000 characters', () => bearer('x'.repeat(5_000))),
  reads('two tokens', (token) => bearer(`${token} ${token}`)),
  reads('the word Bearer in lower case', (token) => ({ headers: { authorization: `bearer ${token}` } })),
  reads('the token by Basic', (token) => ({ headers: { authorization: `Basic ${token}` } })),
  reads('the token without a word', (token) => ({ headers: { authorization: token } })),
  reads('PUT', (token) => ({ ...bearer(token), method: 'PUT' })),
  {
    name: 'userinfo: the ID token as the token',
    run: async (side) => side.send('/oauth/userinfo', bearer((await logInAt(side, 'required')).id_token)),
  },
  {
    name: 'userinfo: the code as the token',
    run: async (side) => side.send('/oauth/userinfo', bearer(await codeAt(side, 'required'))),
  },
  {
    name: 'userinfo: a token whose code was used twice',
    async run(side) {
      const exchange = right(side.clients.required, 'required', await codeAt(side, 'required'));
      const { access_token } = JSON.parse((await sendForm(side, exchange)).text);
      await sendForm(side, exchange);
      return side.send('/oauth/userinfo', bearer(access_token));
    },
  },
];

// Logout

type Leaving = { who?: 'nobody' | 'somebody else'; kind?: Kind };

const leaves = (
  name: string,
  query: (facts: { hint: string; client: OpenIdClient; wayBack: string }) => Pairs,
  { who, kind = 'required' }: Leaving = {},
): Case => ({
  name: `logout: ${name}`,
  async run(side) {
    const cookie = await side.logIn();
    const { id_token } = await logInAt(
      side,
      kind,
      who === 'somebody else' ? who : undefined,
      who ? undefined : cookie,
    );
    const client = side.clients[kind];
    const wayBack = client.redirectUri.replace('callback', 'out');
    const pairs = query({ hint: id_token, client, wayBack });
    const path = `/oauth/logout?${encode(pairs)}`;
    // Without this header, a refusal would be JSON and no page.
    const headers = { accept: 'text/html' };
    return side.send(path, { headers, ...(who !== 'nobody' && { cookie }) });
  },
});

const logouts: Case[] = [
  leaves('nothing', () => []),
  leaves('only a state', () => [['state', 'x']]),
  leaves('a hint', ({ hint }) => [['id_token_hint', hint]]),
  leaves('a hint and a way back', ({ hint, wayBack }) => [
    ['id_token_hint', hint],
    ['post_logout_redirect_uri', wayBack],
    ['state', 'x'],
  ]),
  leaves('a hint, a way back and the client', ({ hint, wayBack, client }) => [
    ['id_token_hint', hint],
    ['post_logout_redirect_uri', wayBack],
    ['client_id', client.name],
  ]),
  leaves('a hint, and another client', ({ hint, wayBack }) => [
    ['id_token_hint', hint],
    ['post_logout_redirect_uri', wayBack],
    ['client_id', 'other'],
  ]),
  leaves('the client and a way back', ({ wayBack, client }) => [
    ['client_id', client.name],
    ['post_logout_redirect_uri', wayBack],
  ]),
  leaves('the client alone', ({ client }) => [['client_id', client.name]]),
  leaves('an unknown client', () => [['client_id', 'nobody']]),
  leaves('an unknown client and a way back', ({ wayBack }) => [
    ['client_id', 'nobody'],
    ['post_logout_redirect_uri', wayBack],
  ]),
  leaves('a way back alone', ({ wayBack }) => [['post_logout_redirect_uri', wayBack]]),
  leaves(
    'a hint of another person',
    ({ hint, wayBack }) => [
      ['id_token_hint', hint],
      ['post_logout_redirect_uri', wayBack],
    ],
    { who: 'somebody else' },
  ),
  leaves(
    'nobody, a hint and a way back',
    ({ hint, wayBack }) => [
      ['id_token_hint', hint],
      ['post_logout_redirect_uri', wayBack],
      ['state', 'x'],
    ],
    { who: 'nobody' },
  ),
  leaves(
    'nobody, the client and a way back',
    ({ wayBack, client }) => [
      ['client_id', client.name],
      ['post_logout_redirect_uri', wayBack],
    ],
    { who: 'nobody' },
  ),
  leaves('nobody, nothing', () => [], { who: 'nobody' }),
  leaves('a logout_hint', () => [['logout_hint', 'somebody@example.test']]),
  ...Object.entries(addresses)
    .filter((_, at) => at % 2 === 0)
    .map(([name, by]) =>
      leaves(`a way back ${name}`, ({ hint, wayBack }) => [
        ['id_token_hint', hint],
        ['post_logout_redirect_uri', by(wayBack.replace('/out', '/callback')).replace('callback', 'out')],
      ]),
    ),
  ...Object.entries(alterations()).map(([name, alter]) =>
    leaves(`a hint ${name}`, ({ hint, wayBack }) => [
      ['id_token_hint', alter(hint)],
      ['post_logout_redirect_uri', wayBack],
    ]),
  ),
  ...['id_token_hint', 'post_logout_redirect_uri', 'state', 'client_id'].flatMap((name) =>
    (['empty', 'sent twice'] as const).map((fault) =>
      leaves(`${name} ${fault}`, ({ hint, wayBack, client }) =>
        replace(
          name,
          faults[fault] ?? (() => []),
        )([
          ['id_token_hint', hint],
          ['post_logout_redirect_uri', wayBack],
          ['state', 'x'],
          ['client_id', client.name],
        ]),
      ),
    ),
  ),
];

// Discovery

const documents: Case[] = ['/.well-known/openid-configuration', '/oauth/jwks'].flatMap((path) =>
  [
    {},
    { headers: { origin: 'https://wiki.example.test' } },
    { method: 'HEAD' },
    { method: 'POST' },
    { method: 'PUT' },
  ].map((options) => ({
    name: `${path}: ${JSON.stringify(options)}`,
    run: (side: Side) => side.send(path, options),
  })),
);

export const cases: Case[] = [
  ...faultyParameters,
  ...posted,
  ...valueCases,
  ...addressCases,
  ...otherAddresses,
  ...withoutLogin,
  ...subsets,
  ...hints,
  ...altered,
  ...faultyFields,
  ...authentications,
  ...grants,
  ...transports,
  ...userinfos,
  ...logouts,
  ...documents,
];
