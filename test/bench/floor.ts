// The floor: what each answer costs at least on these libraries. A bare node:http server on bare pg makes the same
// signatures, reads and writes the same rows (same-writes.ts holds it to that), and refuses nothing.
import { randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { verify } from '@node-rs/argon2';
import { HMAC } from 'oslo/crypto';
import { base64url, encodeHex } from 'oslo/encoding';
import { createElement } from 'react';
import { renderToString } from 'react-dom/server';
import { v7 as uuidv7 } from 'uuid';
import {
  countTry,
  insertAuditEvent,
  insertMail,
  insertSession,
  inTransaction,
  pool,
  query,
  sha256,
  userColumns,
} from './floor-database.ts';
import { signups } from './floor-signups.ts';
import { settings } from './population.ts';

const hmac = new HMAC('SHA-256');
const encoder = new TextEncoder();
const secrets = {
  outgoing: encoder.encode(settings.SSO_MARKETPLACE_SECRET),
  marketplace: encoder.encode(settings.MARKETPLACE_SSO_SECRET),
};

const sessionOf = `select s.id, s.last_seen_at, s.ended_at, s.auth_time, s.amr, l.sid, ${userColumns}
  from sessions s join users u on u.id = s.user_id join accounts a on a.id = u.account_id
  left join launches l on l.session_id = s.id and l.client = 'marketplace'
  where s.token_hash = $1 and s.created_at > $2 and s.last_seen_at > $3`;

async function findSession(request: IncomingMessage) {
  const token = /identity_session=([\w-]{43})/.exec(request.headers.cookie ?? '')?.[1] ?? '';
  const now = Date.now();
  const limits = [new Date(now - 30 * 86_400_000), new Date(now - 14 * 86_400_000)];
  const [row] = await query(pool, sessionOf, [sha256(token), ...limits]);
  const profile = {
    id: row.user_id,
    email: row.email,
    name: row.name,
    role: row.capabilities.length > 0 ? 'merchant' : 'customer',
    account: { capabilities: [...row.capabilities].sort() },
    profile_updated_at: row.profile_updated_at.toISOString(),
  };
  const authTime = Math.floor(row.auth_time / 1_000);
  return { id: row.id, profile, sid: row.sid, authTime, amr: row.amr };
}

async function recordLaunch(sessionId: string, userId: string): Promise<string> {
  const sid = randomBytes(16).toString('base64url');
  await query(pool, 'insert into launches (session_id, client, user_id, sid) values ($1, $2, $3, $4)', [
    sessionId,
    'marketplace',
    userId,
    sid,
  ]);
  return sid;
}

async function launch(request: IncomingMessage, response: ServerResponse) {
  const { id, profile, sid, authTime, amr } = await findSession(request);
  const iat = Math.floor(Date.now() / 1_000);
  const json = JSON.stringify({
    iss: settings.IDENTITY_ISSUER,
    aud: 'marketplace',
    iat,
    exp: iat + 300,
    nonce: randomBytes(16).toString('base64url'),
    client: 'marketplace',
    sid: sid ?? (await recordLaunch(id, profile.id)),
    auth_time: authTime,
    amr,
    profile,
    state: 'bench',
  });
  const payload = base64url.encode(encoder.encode(json), { includePadding: false });
  const signature = encodeHex(await hmac.sign(secrets.outgoing, encoder.encode(payload)));
  const location = `${settings.SSO_MARKETPLACE_CALLBACK_URL}?payload=${payload}&signature=${signature}`;
  response.writeHead(303, { Location: location, 'Cache-Control': 'no-store' }).end();
}

async function profile(request: IncomingMessage, response: ServerResponse) {
  const body = JSON.stringify((await findSession(request)).profile);
  response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }).end(body);
}

async function handOff(request: IncomingMessage, response: ServerResponse) {
  const params = new URL(request.url ?? '', 'http://floor').searchParams;
  const payload = params.get('payload') ?? '';
  const mac = encodeHex(await hmac.sign(secrets.marketplace, encoder.encode(payload)));
  if (mac !== params.get('signature')) throw new Error('signature');
  const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const [id, token, address] = [uuidv7(), createToken(), '127.0.0.1'];
  await inTransaction(async (client) => {
    await query(
      client,
      'insert into nonces (audience, nonce, expires_at) values ($1, $2, $3) on conflict on constraint nonces_pkey do nothing',
      ['inbound:marketplace', claims.nonce, new Date((claims.exp + 60) * 1_000)],
    );
    const [user] = await query(
      client,
      `select ${userColumns}, l.applied_profile_updated_at, l.sleeping_since
        from external_links l
        join users u on u.id = l.user_id join accounts a on a.id = u.account_id
        where l.provider = $1 and l.external_id = $2 for update of l for no key update of a, u`,
      ['marketplace', claims.profile.id],
    );
    const details = { id: claims.profile.id };
    const event = { type: 'hand_off.accepted', reason: 'stale', userId: user.user_id, address, details };
    await insertAuditEvent(client, event);
    await query(
      client,
      'insert into pending_hand_offs (id, token_hash, kind, provider, external_id, user_id, nonce, profile, return_to, expires_at) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)',
      [
        ...[id, sha256(token), 'continue', 'marketplace', claims.profile.id, user.user_id, claims.nonce],
        ...[JSON.stringify(claims.profile), '/profile', new Date(Date.now() + 600_000)],
      ],
    );
  });
  response.writeHead(303, { Location: `/continue?id=${id}`, 'Set-Cookie': `pending_${id}=${token}` }).end();
}

async function login(request: IncomingMessage, response: ServerResponse) {
  const form = new URLSearchParams((await readBody(request)).toString());
  const email = form.get('email') ?? '';
  const address = String(request.headers['x-forwarded-for']);
  const counts = ['address', 'network', 'account'].map(
    (name) =>
      `guess-${name}:${sha256(`${name === 'account' ? '' : address} ${email}`).toString('base64url')}`,
  );
  const [user] = await query(pool, 'select id, password_hash from users where email = $1 and holds_email', [
    email,
  ]);
  for (const key of counts) await countTry(key);
  if (!(await verify(user.password_hash, form.get('password') ?? ''))) throw new Error('password');
  const token = createToken();
  await inTransaction(async (client) => {
    await query(
      client,
      `select ${userColumns} from users u join accounts a on a.id = u.account_id
        where u.id = $1 and u.password_hash = $2 for no key update of a, u`,
      [user.id, user.password_hash],
    );
    await insertAuditEvent(client, { type: 'login.succeeded', userId: user.id, address, details: {} });
    await insertSession(client, { token, userId: user.id, address });
    // Of a user who has logged in before, these are the logins of a new browser.
    const [other] = await query(client, 'select 1 from devices where user_id = $1 limit 1', [user.id]);
    if (other) {
      const recent =
        "select id from mails where user_id = $1 and kind = 'new_browser' and created_at > $2 limit 1";
      const [told] = await query(client, recent, [user.id, new Date(Date.now() - 86_400_000)]);
      if (!told) await insertMail(client, 'new_browser', user.id, email);
    }
    await query(
      client,
      'insert into devices (token_hash, user_id, last_login_at, is_last) values ($1, $2, $3, true)',
      [sha256(createToken()), user.id, new Date()],
    );
    for (const key of counts)
      await query(client, 'update rate_limits set points = points - 1 where key = $1', [key]);
  });
  response.writeHead(303, { Location: '/profile', 'Set-Cookie': `identity_session=${token}` }).end();
}

const createToken = () => randomBytes(32).toString('base64url');

async function readBody(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** With about as many elements as a page of the service has. */
function page(elements: number) {
  return async (request: IncomingMessage, response: ServerResponse) => {
    if (request.headers.cookie) await findSession(request);
    const lines = Array.from({ length: elements }, (_, n) =>
      createElement('p', { key: n, className: 'row' }, `Row ${n}`),
    );
    const html = renderToString(createElement('html', null, createElement('body', null, lines)));
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
  [
    '/integrations/crm/signups',
    async (request, response) => signups(request, await readBody(request), response),
  ],
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
server.listen(Number(process.env.PORT), '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
