// Makes people in any number, by statements in the database, and the requests that a load sends in their names.
import { createHash, createHmac } from 'node:crypto';
import pg from 'pg';
import { migrate } from '../../db/postgres/migrate.ts';

export const password = 'a password for the bench';
export const issuer = 'https://id.bench.test';

/** Production mode, which people use. A request costs something else in local mode, which has another build of React. */
export const settings = {
  NODE_ENV: 'production',
  IDENTITY_ISSUER: issuer,
  SSO_MARKETPLACE_CALLBACK_URL: 'https://market.bench.test/in',
  SSO_MARKETPLACE_SECRET: 'mO5wXq0cT7hUe2ZrJ9yKbN4sVf8LdGa1',
  MARKETPLACE_SSO_ISSUER: 'https://old-market.bench.test',
  MARKETPLACE_SSO_SECRET: 'Zp0oXi9uCy8tVr7eBw6qNl5kMj4hAg3f',
  IDENTITY_ENCRYPTION_KEY: 'fXtK1cQ0sN2mRr9hYw3uEo7bVg5LzPa8DjUiH4xTkSg=',
  CRM_SIGNUPS_SECRET: 'whsec_3q2+78r+uq3erb7vyv66rd6tvu/K/rqt3q2+78r+uq0=',
  // No mail server listens at this address.
  SMTP_URL: 'smtp://127.0.0.1:9',
  MAIL_FROM: 'id@bench.test',
  // Each request names the IP address of its person, as a proxy does. People need different IP addresses, because guesses are
  // counted by IP address.
  TRUSTED_PROXIES: '127.0.0.1',
};
const webhookKey = Buffer.from(settings.CRM_SIGNUPS_SECRET.slice('whsec_'.length), 'base64');

/** Computes a session token from the number of the user, so that the load needs no list of tokens. */
export const tokenOf = (n: number) => createHash('sha256').update(`bench ${n}`).digest('base64url');

/** Migrates a database to this version, and adds `people` users. Each has a marketplace link and a session. */
export async function populate(url: string, people: number, passwordHash: string): Promise<void> {
  await migrate(url);
  const client = new pg.Client(url);
  await client.connect();
  await fill(client, { people, passwordHash });
  await client.end();
}

const idOf = (kind: string, n = 'n') =>
  `('0190f5a0-000${kind}-7000-8000-' || lpad(to_hex(${n}), 12, '0'))::uuid`;
const [accountId, userId, sessionId] = [idOf('0'), idOf('1'), idOf('2')];

/**
 * Gives each user an account, a marketplace link, a session and a contract. If `forBench` is true, also adds a year of history.
 */
export async function fill(
  client: Pick<pg.Client, 'query'>,
  { people, passwordHash, forBench = false }: { people: number; passwordHash: string; forBench?: boolean },
): Promise<void> {
  const run = (text: string, more = '') =>
    client.query(`${text} from generate_series(1, ${people}) n ${more}`);
  // Triggers are off, because nobody needs a history and events of these people.
  await client.query('set session_replication_role = replica; set synchronous_commit = off');
  await run(`insert into accounts (id, name, capabilities, verified_at)
    select ${accountId}, 'Account ' || n, '{sell_products,manage_storefront}', now()`);
  await run(
    `insert into users (id, account_id, email, holds_email, name, password_hash, email_verified_at)
    select ${userId}, ${accountId}, 'user-' || n || '@example.com', true, 'User ' || n, '${passwordHash}', now()`,
  );
  // Computes the token as tokenOf does (a SHA-256 as base64url without padding), and hashes it.
  await run(`insert into sessions
      (id, token_hash, user_id, created_at, last_seen_at, auth_time, amr, address, user_agent)
    select ${sessionId}, sha256(convert_to(translate(trim(trailing '=' from
      encode(sha256(convert_to('bench ' || n, 'UTF8')), 'base64')), '+/', '-_'), 'UTF8')),
      ${userId}, now(), now() + interval '${forBench ? 1 : 0} day', now(), '{pwd}', '127.0.0.1', 'bench'`);
  // Only a session's first launch to a client is recorded. This is that launch.
  await run(
    `insert into launches (session_id, client, user_id, sid, at)
    select ${sessionId}, 'marketplace', ${userId}, 'sid-' || lpad(n::text, 18, '0'), now() - interval '1 day'`,
    forBench ? 'where n % 3 = 1' : '',
  );
  await run(
    `insert into client_users (user_id, client, since)
    select ${userId}, 'marketplace', now() - interval '1 day'`,
    forBench ? 'where n % 3 > 0' : '',
  );
  await run(`insert into external_links (provider, external_id, user_id, applied_profile_updated_at)
    select 'marketplace', 'm-' || n, ${userId}, now()`);
  await run(`insert into nonces (audience, nonce, expires_at)
    select 'inbound:marketplace', 'bench-' || lpad(n::text, 20, '0'), now() + interval '1 day'`);
  await run(`insert into service_contracts
      (id, user_id, account_id, signup_id, plan, status, occurred_at, trial_ends_at)
    select ${idOf('4')}, ${userId}, ${accountId}, 'bench_' || n, 'starter', 'trialing', now(), now() + interval '1 year'`);
  await run(`insert into webhook_requests (webhook_id, body_hash, status, answer, created_at)
    select 'bench_' || n, sha256(n::text::bytea), 201, repeat('x', 300), now()`);
  await run(`insert into audit_events (id, type, user_id, address)
    select ${idOf('3')}, 'login.succeeded', ${userId}, '127.0.0.1'`);
  if (forBench) await addYear(run);
  await client.query('reset session_replication_role');
  await client.query('vacuum analyze');
  await client.query('checkpoint');
}

/** Adds for each person a login a month, some events, and the history since their signup. Some get a mail of this month. */
async function addYear(run: (text: string, more?: string) => Promise<unknown>): Promise<void> {
  const months = `cross join generate_series(1, 12) month`;
  await run(
    `insert into audit_events (id, at, type, user_id, address, device, place, request_id)
    select ${idOf('5', 'month * 268435456::bigint + n')}, now() - interval '30 days' * (13 - month), 'login.succeeded',
      ${userId}, '127.0.0.1', 'Firefox on Linux', 'Berlin, Germany', ${idOf('6', 'month * 268435456::bigint + n')}`,
    months,
  );
  for (const [subject, row] of [
    ['account', accountId],
    ['user', userId],
    ['link', "'m-' || n"],
    ['contract', idOf('4')],
  ])
    await run(
      `insert into changes (at, began_at, subject, row_id, user_id, account_id, kind, members, by, cause, role)
      select at, at, '${subject}', (${row})::text, ${userId}, ${accountId}, 'created',
        jsonb_build_object('name', 'User ' || n, 'email', 'user-' || n || '@example.com', 'plan', 'starter'),
        'crm', 'bench_' || n, 'identity'`,
      ", lateral (select now() - interval '1 year' as at)",
    );
  await run(
    `insert into events (client, seq, type, user_id, occurred_at, numbered_at, body)
    select 'marketplace', (age - 1) * (select count(*) from users) + n, 'profile.updated', ${userId}, at, at,
      jsonb_build_object('id', ${userId}, 'email', 'user-' || n || '@example.com', 'name', 'User ' || n, 'role', 'user',
        'capabilities', '["manage_storefront", "sell_products"]'::jsonb, 'verified_at', at, 'profile_updated_at', at)`,
    "cross join generate_series(1, 2) age, lateral (select now() - interval '30 days' * (3 - age) as at)",
  );
  await run(`insert into event_sequences select 'marketplace', 2 * max(n)`);
  await run(
    `insert into mails (id, kind, user_id, recipient, created_at, next_attempt_at, attempts, sent_at)
    select ${idOf('7')}, 'new_browser', ${userId}, 'user-' || n || '@example.com', at, at, 1, at`,
    ", lateral (select now() - interval '7 days' as at) where n % 10 = 0",
  );
}

export type Asked = {
  method: 'GET' | 'POST';
  path: string;
  headers?: Record<string, string>;
  body?: string;
};

let serial = 0;
const run = Date.now().toString(36);
const anyone = (users: number) => 1 + Math.floor(Math.random() * users);
// Picks a user whose number, divided by 3, has the remainder `third`. `fill` adds different rows for each of the three groups.
const oneOf = (third: 0 | 1 | 2, users: number, chosen: number) =>
  3 * (chosen % Math.floor(users / 3)) + (third || 3);
// Picks numbers spread over the tables. Picks every number before it repeats one.
const next = () => serial++ * 7_919;

/** Returns functions that build one request each, usually by a random user. */
export function buildAsking(users: number) {
  const cookie = (user = anyone(users)) => `__Host-identity_session=${tokenOf(user)}`;
  const launch = (user: number) => ({
    method: 'GET' as const,
    path: '/sso/launch/marketplace?state=bench',
    headers: { cookie: cookie(user) },
  });
  return {
    launch: () => launch(oneOf(1, users, anyone(users))),
    'first launch': () => launch(oneOf(2, users, next())),
    newcomer: () => launch(oneOf(0, users, next())),
    profile: () => ({ method: 'GET', path: '/sso/profile', headers: { cookie: cookie() } }),
    'hand-off': () => ({ method: 'GET', path: buildHandOff(anyone(users)) }),
    signups: () => buildSignup(`user-${anyone(users)}`),
    'new signups': () => buildSignup(`new-${run}-${serial}`),
    login: () => buildLogin(anyone(users)),
    'page /login': () => ({ method: 'GET', path: '/login', headers: { accept: 'text/html' } }),
    'page /profile': () => ({
      method: 'GET',
      path: '/profile',
      headers: { accept: 'text/html', cookie: cookie() },
    }),
  } satisfies Record<string, () => Asked>;
}

export function buildLogin(user: number, typed = password): Asked {
  return {
    method: 'POST',
    path: '/login',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      origin: issuer,
      'x-forwarded-for': [10, user >> 16, (user >> 8) & 255, user & 255].join('.'),
    },
    body: String(new URLSearchParams({ email: `user-${user}@example.com`, password: typed })),
  };
}

function buildHandOff(user: number): string {
  const iat = Math.floor(Date.now() / 1_000);
  const payload = Buffer.from(
    JSON.stringify({
      iss: settings.MARKETPLACE_SSO_ISSUER,
      aud: issuer,
      iat,
      exp: iat + 300,
      nonce: `${run}-${String(serial++).padStart(16, '0')}`,
      client: 'marketplace',
      profile: {
        id: `m-${user}`,
        email: `user-${user}@example.com`,
        email_verified: true,
        name: `User ${user}`,
        role: 'merchant',
        account: { capabilities: ['manage_storefront', 'sell_products'] },
        profile_updated_at: '2026-01-01T00:00:00.000Z',
      },
    }),
  ).toString('base64url');
  const signature = createHmac('sha256', settings.MARKETPLACE_SSO_SECRET).update(payload).digest('hex');
  return `/sso/marketplace/callback?payload=${payload}&signature=${signature}`;
}

function buildSignup(user: string): Asked {
  const [id, at] = [`${run}_${serial++}`, Date.now()];
  const body = JSON.stringify({
    signup_id: id,
    occurred_at: new Date(at).toISOString(),
    user: { email: `${user}@example.com`, name: user },
    account: { name: user },
    contract: {
      plan: 'starter',
      status: 'trialing',
      trial_ends_at: new Date(at + 1_209_600_000).toISOString(),
      price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
    },
  });
  const timestamp = String(Math.floor(at / 1_000));
  const mac = createHmac('sha256', webhookKey).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    method: 'POST',
    path: '/integrations/crm/signups',
    body,
    headers: {
      'content-type': 'application/json',
      'webhook-id': id,
      'webhook-timestamp': timestamp,
      'webhook-signature': `v1,${mac}`,
    },
  };
}
