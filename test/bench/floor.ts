// The floor: what each answer costs at least on these libraries. A bare node:http server on bare pg that runs
// the same statements and makes the same signatures, and refuses nothing.
import { createHash, randomBytes, randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verify } from '@node-rs/argon2';
import { HMAC } from 'oslo/crypto';
import { base64url, encodeHex } from 'oslo/encoding';
import pg from 'pg';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { settings } from './population.ts';

const { PORT, DATABASE_URL, PASSWORD_HASH } = process.env;
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const hmac = new HMAC('SHA-256');
const encoder = new TextEncoder();
const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();
const secrets = {
  outgoing: encoder.encode(settings.SSO_MARKETPLACE_SECRET),
  marketplace: encoder.encode(settings.MARKETPLACE_SSO_SECRET),
  webhook: Buffer.from(settings.CRM_SIGNUPS_SECRET.slice('whsec_'.length), 'base64'),
};

type Client = Pick<pg.Pool, 'query'>;
const names = new Map<string, string>();
/** Prepared, as the service does it. */
function query(client: Client, text: string, values: unknown[]) {
  let name = names.get(text);
  if (!name) {
    name = `f_${names.size}`;
    names.set(text, name);
  }
  return client.query({ name, text, values });
}

const sessionOf = `select s.id, s.last_seen_at, s.ended_at, u.id as user_id, u.email, u.name, u.role,
    u.email_verified_at, u.suspended_at, u.profile_updated_at, a.id as account_id, a.name as account_name,
    a.capabilities, a.verified_at
  from sessions s join users u on u.id = s.user_id join accounts a on a.id = u.account_id
  where s.token_hash = $1 and s.created_at > $2 and s.last_seen_at > $3`;

async function findProfile(request: IncomingMessage) {
  const token = /identity_session=([\w-]{43})/.exec(request.headers.cookie ?? '')?.[1] ?? '';
  const now = Date.now();
  const limits = [new Date(now - 30 * 86_400_000), new Date(now - 14 * 86_400_000)];
  const { rows } = await query(pool, sessionOf, [sha256(token), ...limits]);
  const row = rows[0];
  return {
    id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.capabilities.length > 0 ? 'merchant' : 'customer',
    account: { capabilities: [...row.capabilities].sort() },
    profile_updated_at: row.profile_updated_at.toISOString(),
  };
}

async function launch(request: IncomingMessage, response: ServerResponse) {
  const profile = await findProfile(request);
  const iat = Math.floor(Date.now() / 1_000);
  const json = JSON.stringify({
    iss: settings.IDENTITY_ISSUER,
    aud: 'marketplace',
    iat,
    exp: iat + 300,
    nonce: randomBytes(16).toString('base64url'),
    client: 'marketplace',
    profile,
    state: 'bench',
  });
  const payload = base64url.encode(encoder.encode(json), { includePadding: false });
  const signature = encodeHex(await hmac.sign(secrets.outgoing, encoder.encode(payload)));
  const location = `${settings.SSO_MARKETPLACE_CALLBACK_URL}?payload=${payload}&signature=${signature}`;
  response.writeHead(303, { Location: location, 'Cache-Control': 'no-store' }).end();
}

async function profile(request: IncomingMessage, response: ServerResponse) {
  const body = JSON.stringify(await findProfile(request));
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }).end(body);
}

async function inTransaction(work: (client: pg.PoolClient) => Promise<void>) {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } finally {
    client.release();
  }
}

async function handOff(request: IncomingMessage, response: ServerResponse) {
  const params = new URL(request.url ?? '', 'http://floor').searchParams;
  const payload = params.get('payload') ?? '';
  const mac = encodeHex(await hmac.sign(secrets.marketplace, encoder.encode(payload)));
  if (mac !== params.get('signature')) throw new Error('signature');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const token = randomBytes(32).toString('base64url');
  const now = new Date();
  await inTransaction(async (client) => {
    await query(
      client,
      'insert into nonces (audience, nonce, expires_at) values ($1, $2, $3) on conflict on constraint nonces_pkey do nothing',
      ['inbound:marketplace', claims.nonce, new Date((claims.exp + 60) * 1_000)],
    );
    const { rows } = await query(
      client,
      `select u.id, u.account_id, u.email, u.name, u.role, u.password_hash is not null as has_password,
          u.suspended_at is not null as is_suspended, u.email_verified_at, u.name_edited_at,
          l.applied_profile_updated_at
        from external_links l
        join users u on u.id = l.user_id join accounts a on a.id = u.account_id
        where l.provider = $1 and l.external_id = $2 for update of l for no key update of a, u`,
      ['marketplace', claims.profile.id],
    );
    const userId = rows[0].id;
    await query(
      client,
      'insert into audit_events (id, type, reason, user_id, address, request_id, details) values ($1, $2, $3, $4, $5, $6, $7)',
      [
        randomUUID(),
        'hand_off.accepted',
        'stale',
        userId,
        '127.0.0.1',
        randomUUID(),
        JSON.stringify({ id: 'm' }),
      ],
    );
    await query(
      client,
      'insert into sessions (id, token_hash, user_id, created_at, last_seen_at, address, user_agent) values ($1, $2, $3, $4, $5, $6, $7)',
      [randomUUID(), sha256(token), userId, now, now, '127.0.0.1', 'bench'],
    );
  });
  response.writeHead(303, { Location: '/profile', 'Set-Cookie': `identity_session=${token}` }).end();
}

async function signups(request: IncomingMessage, response: ServerResponse) {
  const body = await readBody(request);
  const { 'webhook-id': id, 'webhook-timestamp': timestamp } = request.headers;
  const message = Buffer.concat([Buffer.from(`${id}.${timestamp}.`), body]);
  const mac = Buffer.from(await hmac.sign(secrets.webhook, message)).toString('base64');
  if (`v1,${mac}` !== request.headers['webhook-signature']) throw new Error('signature');
  const signup = JSON.parse(body.toString());
  const { contract } = signup;
  const now = new Date();
  let answer = '';
  await inTransaction(async (client) => {
    await query(client, 'select pg_try_advisory_xact_lock(hashtextextended($1, 0)) as locked', [id]);
    await query(client, 'select body_hash, status, answer from webhook_requests where webhook_id = $1', [id]);
    await query(client, 'select * from service_contracts where signup_id = $1 for update', [
      signup.signup_id,
    ]);
    const { rows } = await query(
      client,
      'select id, account_id, name, suspended_at from users where email = $1',
      [signup.user.email],
    );
    const user = rows[0] ?? (await createCustomer(client, signup));
    const contractId = randomUUID();
    await query(
      client,
      `insert into service_contracts (id, user_id, account_id, signup_id, plan, status, trial_ends_at, price_currency,
        price_unit_amount, price_interval, occurred_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
      [
        contractId,
        user.id,
        user.account_id,
        signup.signup_id,
        contract.plan,
        contract.status,
        new Date(contract.trial_ends_at),
        contract.price.currency,
        contract.price.unit_amount,
        contract.price.interval,
        new Date(signup.occurred_at),
      ],
    );
    answer = JSON.stringify({
      signup_id: signup.signup_id,
      user: { id: user.id, created: rows.length === 0 },
      account: { id: user.account_id, created: rows.length === 0 },
      contract: { id: contractId, status: contract.status, plan: contract.plan, created: true },
    });
    await query(
      client,
      'insert into audit_events (id, type, reason, user_id, address, request_id, details) values ($1, $2, $3, $4, $5, $6, $7)',
      [
        randomUUID(),
        'signup.accepted',
        'created',
        user.id,
        '127.0.0.1',
        randomUUID(),
        JSON.stringify({ contractId }),
      ],
    );
    await query(
      client,
      'insert into webhook_requests (webhook_id, body_hash, status, answer, created_at) values ($1, $2, $3, $4, $5)',
      [id, sha256(body), 201, answer, now],
    );
  });
  response.writeHead(201, { 'Content-Type': 'application/json' }).end(answer);
}

async function createCustomer(
  client: pg.PoolClient,
  { user, account }: { user: Record<string, string>; account: Record<string, string> },
) {
  const [id, accountId] = [randomUUID(), randomUUID()];
  await query(client, 'insert into accounts (id, name, capabilities, verified_at) values ($1, $2, $3, $4)', [
    accountId,
    account.name,
    [],
    null,
  ]);
  await query(
    client,
    `insert into users (id, account_id, email, name, role, password_hash, email_verified_at, suspended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [id, accountId, user.email, user.name, 'user', null, null, null],
  );
  await query(
    client,
    `insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
     values ($1, $2, $3, $4, $5, $6, $6)`,
    [randomUUID(), 'welcome', id, user.email, JSON.stringify({ name: user.name }), new Date()],
  );
  return { id, account_id: accountId };
}

/** Nothing but the hash: the service may do no more that matters. */
async function login(request: IncomingMessage, response: ServerResponse) {
  const form = new URLSearchParams((await readBody(request)).toString());
  if (!(await verify(PASSWORD_HASH ?? '', form.get('password') ?? ''))) throw new Error('password');
  response.writeHead(303, { Location: '/profile' }).end();
}

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** About as many elements as a page of ours has. */
function page(elements: number) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.cookie) await findProfile(request);
    const rows = Array.from({ length: elements }, (_, n) =>
      createElement('p', { key: n, className: 'row' }, `Row ${n}`),
    );
    const html = renderToString(createElement('html', null, createElement('body', null, rows)));
    response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' }).end(`<!doctype html>${html}`);
  };
}

const answers: [
  prefix: string,
  answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
][] = [
  ['/sso/launch/', launch],
  ['/sso/profile', profile],
  ['/sso/marketplace/callback', handOff],
  ['/integrations/crm/signups', signups],
  ['/login', async (request, response) => (request.method === 'POST' ? login : page(40))(request, response)],
  ['/profile', page(150)],
  ['/healthz', async (_request, response) => void response.end('ok')],
];

const server = createServer((request, response) => {
  const found = answers.find(([prefix]) => request.url?.startsWith(prefix));
  if (!found) return response.writeHead(404).end();
  found[1](request, response).catch((error) => {
    // Not where the load has left half way.
    if (error.code !== 'ECONNRESET') process.stderr.write(`${error}\n`);
    response.writeHead(500).end();
  });
});
server.listen(Number(PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
