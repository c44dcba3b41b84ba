// The reference program keeps the promises of the service for the requests of the bench. It is written as most people would
// write it: Hono, Kysely and pg as they come, and one transaction for each request that writes. It refuses all requests that
// the bench does not send.
import { createHash, createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import { serve } from '@hono/node-server';
import { verify } from '@node-rs/argon2';
import { type Context, Hono } from 'hono';
import { getCookie } from 'hono/cookie';
import { HTTPException } from 'hono/http-exception';
import { type Insertable, Kysely, PostgresDialect, sql, type Transaction } from 'kysely';
import pg from 'pg';
import { pino } from 'pino';
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { AuditEvents, DB } from '../../db/schema.ts';
import { nobodysHash } from '../../db/tables/users.ts';
import { settings } from './population.ts';

declare const Deno: {
  serve: (options: { port: number; hostname: string; onListen: () => void }, fetch: typeof app.fetch) => void;
};

// The reference keeps its connections while the other contenders have their turns.
const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10, idleTimeoutMillis: 0 });
const db = new Kysely<DB>({ dialect: new PostgresDialect({ pool }) });
const log = pino();
const app = new Hono();

const [minuteMs, dayMs] = [60_000, 86_400_000];
const ago = (ms: number) => new Date(Date.now() - ms);
const sha256 = (text: string) => createHash('sha256').update(text).digest();
const createToken = () => randomBytes(32).toString('base64url');
const webhookKey = Buffer.from(settings.CRM_SIGNUPS_SECRET.slice('whsec_'.length), 'base64');
const cookieFlags = 'Path=/; HttpOnly; Secure; SameSite=Lax';

function refuse(status: 400 | 401 | 403 | 404 | 409 | 422 | 429 | 501): never {
  throw new HTTPException(status);
}

function requireSignature(key: string | Buffer, text: string, encoding: 'hex' | 'base64', given = '') {
  const expected = createHmac('sha256', key).update(text).digest(encoding);
  if (given.length !== expected.length || !timingSafeEqual(Buffer.from(given), Buffer.from(expected)))
    refuse(401);
}

app.use(async (c, next) => {
  const startedAt = performance.now();
  await next();
  const { method, path } = c.req;
  log.info({ method, path, status: c.res.status, ms: performance.now() - startedAt });
});
app.onError((error, c) => {
  if (error instanceof HTTPException) return error.getResponse();
  log.error(error);
  return c.text('', error instanceof z.ZodError ? 422 : 500);
});
app.get('/healthz', (c) => c.text('ok'));

const insert = <Table extends keyof DB>(on: Kysely<DB>, table: Table, row: Insertable<DB[Table]>) =>
  on.insertInto(table).values(row).execute();

const findHolder = (on: Kysely<DB>, email: string) =>
  on
    .selectFrom('users')
    .select(['id', 'account_id', 'password_hash'])
    .where('email', '=', email)
    .where('holds_email', '=', true)
    .executeTakeFirst();

async function requireSession(c: Context) {
  const session = await db
    .selectFrom('sessions as s')
    .innerJoin('users as u', 'u.id', 's.user_id')
    .innerJoin('accounts as a', 'a.id', 'u.account_id')
    .leftJoin('launches as l', (join) =>
      join.onRef('l.session_id', '=', 's.id').on('l.client', '=', 'marketplace'),
    )
    .select(['s.id', 's.last_seen_at', 's.auth_time', 's.amr', 's.user_id', 'l.sid', 'u.email'])
    .select(['u.name', 'u.role', 'u.email_verified_at', 'u.deletion_due_at', 'u.profile_updated_at'])
    .select(['a.capabilities', 'a.verified_at'])
    .where('s.token_hash', '=', sha256(getCookie(c, 'identity_session', 'host') ?? ''))
    .where('s.created_at', '>', ago(30 * dayMs))
    .where('s.last_seen_at', '>', ago(14 * dayMs))
    .where('s.ended_at', 'is', null)
    .where('u.suspended_at', 'is', null)
    .executeTakeFirst();
  if (!session) return refuse(401);
  if (session.last_seen_at < ago(5 * minuteMs))
    await db.updateTable('sessions').set({ last_seen_at: new Date() }).where('id', '=', session.id).execute();
  return session;
}

const isActive = (name: string, verifiedAt: Date | null) => verifiedAt !== null || name !== 'sell_products';

const buildProfile = (session: Awaited<ReturnType<typeof requireSession>>) => ({
  id: session.user_id,
  email: session.email,
  name: session.name,
  role: session.role !== 'user' ? 'admin' : session.capabilities.length > 0 ? 'merchant' : 'customer',
  account: {
    capabilities: session.capabilities.filter((name) => isActive(name, session.verified_at)).sort(),
  },
  profile_updated_at: session.profile_updated_at.toISOString(),
});

app.get('/sso/profile', async (c) => {
  const profile = buildProfile(await requireSession(c));
  const etag = `"${profile.id}.${profile.profile_updated_at}"`;
  if (c.req.header('if-none-match') === etag) return c.body(null, 304);
  return c.json(profile, 200, { ETag: etag, 'Cache-Control': 'private, no-cache', Vary: 'Cookie' });
});

app.get('/sso/launch/marketplace', async (c) => {
  const { state } = c.req.query();
  if (state !== undefined && !/^[\w.~-]{1,512}$/.test(state)) refuse(400);
  const session = await requireSession(c);
  if (!session.email_verified_at || session.deletion_due_at || session.role !== 'user') refuse(403);
  const iat = Math.floor(Date.now() / 1_000);
  const claims = {
    iss: settings.IDENTITY_ISSUER,
    aud: 'marketplace',
    iat,
    exp: iat + 300,
    nonce: randomBytes(16).toString('base64url'),
    client: 'marketplace',
    sid: session.sid ?? (await recordLaunch(session)),
    auth_time: session.auth_time && Math.floor(session.auth_time.getTime() / 1_000),
    amr: session.amr,
    profile: buildProfile(session),
    state,
  };
  const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
  const signature = createHmac('sha256', settings.SSO_MARKETPLACE_SECRET).update(payload).digest('hex');
  c.header('Cache-Control', 'no-store');
  const query = `payload=${payload}&signature=${signature}`;
  return c.redirect(`${settings.SSO_MARKETPLACE_CALLBACK_URL}?${query}`, 303);
});

/**
 * Locks the user and the session. If something changes the user or ends the session, it does so before this launch is recorded,
 * or waits until then.
 */
function recordLaunch({ id, user_id }: { id: string; user_id: string }): Promise<string> {
  return db.transaction().execute(async (trx) => {
    const user = trx.selectFrom('users').select('id').where('id', '=', user_id);
    if (!(await user.forShare().executeTakeFirst())) refuse(401);
    const open = trx.selectFrom('sessions').select('id').where('id', '=', id).where('ended_at', 'is', null);
    if (!(await open.forShare().executeTakeFirst())) refuse(401);
    const { sid } = await trx
      .insertInto('launches')
      .values({ session_id: id, client: 'marketplace', user_id, sid: randomBytes(16).toString('base64url') })
      .onConflict((both) => both.columns(['session_id', 'client']).doUpdateSet({ sid: sql`launches.sid` }))
      .returning('sid')
      .executeTakeFirstOrThrow();
    return sid;
  });
}

const handOffSchema = z.object({
  iss: z.literal(settings.MARKETPLACE_SSO_ISSUER),
  aud: z.literal(settings.IDENTITY_ISSUER),
  client: z.literal('marketplace'),
  iat: z.int(),
  exp: z.int(),
  nonce: z.string().regex(/^[\w-]{16,128}$/),
  profile: z.object({
    id: z.string().max(128),
    email: z.email(),
    email_verified: z.boolean(),
    name: z.string().max(200),
    role: z.enum(['admin', 'merchant', 'customer']),
    account: z.object({ capabilities: z.array(z.string()).max(100) }),
    profile_updated_at: z.iso.datetime(),
  }),
});

app.get('/sso/marketplace/callback', async (c) => {
  const { payload = '', signature } = c.req.query();
  requireSignature(settings.MARKETPLACE_SSO_SECRET, payload, 'hex', signature);
  const claims = handOffSchema.parse(JSON.parse(Buffer.from(payload, 'base64url').toString()));
  const { iat, exp, nonce, profile } = claims;
  const seconds = Date.now() / 1_000;
  if (iat > seconds + 30 || exp < seconds - 30 || exp - iat > 300) refuse(400);
  const [id, token] = [uuidv7(), createToken()];
  await db.transaction().execute(async (trx) => {
    const issuedAt = new Date(iat * 1_000);
    const restore = trx.selectFrom('restores').select('at').where('at', '>', issuedAt);
    if (await restore.executeTakeFirst()) refuse(400);
    const { numInsertedOrUpdatedRows } = await trx
      .insertInto('nonces')
      .values({ audience: 'inbound:marketplace', nonce, expires_at: new Date((exp + 60) * 1_000) })
      .onConflict((used) => used.columns(['audience', 'nonce']).doNothing())
      .executeTakeFirstOrThrow();
    if (numInsertedOrUpdatedRows !== 1n) refuse(409);
    const user = await trx
      .selectFrom('external_links as l')
      .innerJoin('users as u', 'u.id', 'l.user_id')
      .innerJoin('accounts as a', 'a.id', 'u.account_id')
      .select(['u.id', 'u.role', 'u.suspended_at', 'l.applied_profile_updated_at', 'l.sleeping_since'])
      .where('l.provider', '=', 'marketplace')
      .where('l.external_id', '=', profile.id)
      .forUpdate('l')
      .forNoKeyUpdate(['a', 'u'])
      .executeTakeFirst();
    if (!user?.applied_profile_updated_at || user.sleeping_since) return refuse(501);
    if (user.suspended_at || user.role !== 'user') refuse(403);
    if (new Date(profile.profile_updated_at) > user.applied_profile_updated_at) refuse(501);
    await audit(trx, c, { type: 'hand_off.accepted', reason: 'stale', user_id: user.id }, { id: profile.id });
    await insert(trx, 'pending_hand_offs', {
      id,
      kind: 'continue',
      provider: 'marketplace',
      external_id: profile.id,
      user_id: user.id,
      nonce,
      token_hash: sha256(token),
      profile: JSON.stringify(profile),
      return_to: '/profile',
      expires_at: ago(-10 * minuteMs),
    });
  });
  c.header('Set-Cookie', `__Host-identity_pending_${id}=${token}; Max-Age=600; ${cookieFlags}`);
  return c.redirect(`/continue?id=${id}`, 303);
});

const signupSchema = z.object({
  signup_id: z.string().regex(/^[\w.:-]{1,128}$/),
  occurred_at: z.iso.datetime(),
  user: z.object({ email: z.email(), name: z.string().max(200) }),
  account: z.object({ name: z.string().max(200) }),
  contract: z.object({
    plan: z.string().regex(/^[a-z0-9_-]{1,64}$/),
    status: z.literal('trialing'),
    trial_ends_at: z.iso.datetime(),
    price: z.object({ currency: z.string(), unit_amount: z.int(), interval: z.enum(['month', 'year']) }),
  }),
});

app.post('/integrations/crm/signups', async (c) => {
  const body = await c.req.text();
  const { 'webhook-id': webhookId = '', 'webhook-timestamp': timestamp } = c.req.header();
  const signature = c.req.header('webhook-signature')?.slice('v1,'.length);
  requireSignature(webhookKey, `${webhookId}.${timestamp}.${body}`, 'base64', signature);
  if (Math.abs(Date.now() / 1_000 - Number(timestamp)) > 300) refuse(401);
  const signup = signupSchema.parse(JSON.parse(body));
  const { email, name } = signup.user;
  const { plan, status, price } = signup.contract;
  const trialEndsAt = new Date(signup.contract.trial_ends_at);

  const [answer, isRepeated] = await db.transaction().execute(async (trx) => {
    const origin = JSON.stringify({ by: 'crm', cause: webhookId });
    await sql`select set_config('identity.origin', ${origin}, true)`.execute(trx);
    const free = sql<boolean>`pg_try_advisory_xact_lock(hashtextextended(${webhookId}, 0))`;
    if (!(await trx.selectNoFrom(free.as('free')).executeTakeFirst())?.free) refuse(409);
    const given = trx.selectFrom('webhook_requests').selectAll().where('webhook_id', '=', webhookId);
    const before = await given.executeTakeFirst();
    if (before && !sha256(body).equals(before.body_hash)) refuse(422);
    if (before) return [before.answer, true];
    const known = trx.selectFrom('service_contracts').select('id').where('signup_id', '=', signup.signup_id);
    if (await known.forUpdate().executeTakeFirst()) refuse(501);

    const holder = await findHolder(trx, email);
    const reserved = trx.selectFrom('reserved_addresses').select('user_id').where('email', '=', email);
    if (!holder && (await reserved.executeTakeFirst())) refuse(501);
    const { id: user_id, account_id } = holder ?? { id: uuidv7(), account_id: uuidv7() };
    if (!holder) {
      await insert(trx, 'accounts', { id: account_id, name: signup.account.name });
      await insert(trx, 'users', { id: user_id, account_id, email, holds_email: true, name });
    }
    const id = uuidv7();
    await insert(trx, 'service_contracts', {
      id,
      user_id,
      account_id,
      signup_id: signup.signup_id,
      plan,
      status,
      trial_ends_at: trialEndsAt,
      price_currency: price.currency,
      price_unit_amount: price.unit_amount,
      price_interval: price.interval,
      occurred_at: signup.occurred_at,
      next_period_starts_at: trialEndsAt,
      billing_anchor_day: trialEndsAt.getUTCDate(),
    });
    if (holder) await notify(trx, user_id, email, 'contract_added');
    else await mail(trx, user_id, email, 'welcome');
    const created = !holder;
    const text = JSON.stringify({
      signup_id: signup.signup_id,
      applied: true,
      user: { id: user_id, created },
      account: { id: account_id, created },
      contract: { id, status, plan, trial_ends_at: trialEndsAt, created: true },
    });
    const details = { signupId: signup.signup_id, contractId: id, webhookId };
    await audit(trx, c, { type: 'signup.accepted', reason: 'created', user_id }, details);
    await insert(trx, 'webhook_requests', {
      webhook_id: webhookId,
      body_hash: sha256(body),
      status: 201,
      answer: text,
      created_at: new Date(),
    });
    return [text, false];
  });
  if (isRepeated) c.header('Idempotent-Replayed', 'true');
  return c.body(answer, 201, { 'Content-Type': 'application/json', 'Cache-Control': 'no-store' });
});

app.post('/login', async (c) => {
  if (c.req.header('origin') !== settings.IDENTITY_ISSUER) refuse(403);
  const form = z.object({ email: z.email(), password: z.string().max(1_024) }).parse(await c.req.parseBody());
  const { email } = form;
  const address = addressOf(c);
  const owner = await findHolder(db, email);
  const network = address.split('.').slice(0, 3).join('.');
  const account = `${email} ${owner?.password_hash}`;
  const guesses = [
    { key: `guess-address:${address}`, times: 100, ms: 15 * minuteMs },
    { key: `guess-network:${network} ${account}`, times: 10, ms: 15 * minuteMs },
    { key: `guess-account:${account}`, times: 100, ms: 60 * minuteMs },
  ];
  for (const guess of guesses) if (!(await count(db, guess))) refuse(429);
  const isRight = await verify(owner?.password_hash ?? nobodysHash, form.password.normalize('NFKC'));
  if (!isRight || !owner) {
    if (owner) await audit(db, c, { type: 'login.refused', reason: 'wrong_password', user_id: owner.id });
    return refuse(401);
  }
  const [token, device, now, user_id] = [createToken(), createToken(), new Date(), owner.id];
  await db.transaction().execute(async (trx) => {
    const user = await trx
      .selectFrom('users as u')
      .innerJoin('accounts as a', 'a.id', 'u.account_id')
      .select(['u.suspended_at', 'u.has_authenticator'])
      .where('u.id', '=', user_id)
      .where('u.password_hash', '=', owner.password_hash)
      .forNoKeyUpdate(['a', 'u'])
      .executeTakeFirst();
    if (!user) return refuse(401);
    if (user.suspended_at) refuse(403);
    if (user.has_authenticator) refuse(501);
    if (!(await count(trx, { key: `login:${account}`, times: 60, ms: dayMs }))) refuse(429);
    const tooMany = trx
      .selectFrom('sessions')
      .select('id')
      .where('user_id', '=', user_id)
      .where('ended_at', 'is', null)
      .where('created_at', '>', ago(30 * dayMs))
      .orderBy('created_at', 'desc')
      .offset(49);
    await trx.updateTable('sessions').set({ ended_at: now }).where('id', 'in', tooMany).execute();
    await insert(trx, 'sessions', {
      id: uuidv7(),
      token_hash: sha256(token),
      user_id,
      created_at: now,
      last_seen_at: now,
      auth_time: now,
      amr: ['pwd'],
      address,
      user_agent: c.req.header('user-agent') ?? '',
    });
    const others = trx.selectFrom('devices').select('token_hash').where('user_id', '=', user_id).limit(1);
    const told = trx.selectFrom('mails').select('id').where('user_id', '=', user_id);
    const isTold = told.where('kind', '=', 'new_browser').where('created_at', '>', ago(dayMs)).limit(1);
    if ((await others.executeTakeFirst()) && !(await isTold.executeTakeFirst()))
      await notify(trx, user_id, email, 'new_browser');
    await insert(trx, 'devices', {
      token_hash: sha256(device),
      user_id,
      last_login_at: now,
      known_since: now,
      is_last: true,
    });
    await audit(trx, c, { type: 'login.succeeded', user_id });
    for (const { key } of guesses) {
      const one = trx.updateTable('rate_limits').where('key', '=', key).where('points', '>', 0);
      await one.set({ points: sql`points - 1` }).execute();
    }
  });
  c.header('Set-Cookie', `__Host-identity_session=${token}; Max-Age=2592000; ${cookieFlags}`);
  const deviceCookie = `__Host-identity_device=${device}; Max-Age=34560000; ${cookieFlags}`;
  c.header('Set-Cookie', deviceCookie, { append: true });
  return c.redirect('/profile', 303);
});

const addressOf = (c: Context) => c.req.header('x-forwarded-for') ?? '127.0.0.1';

/** Returns false if the key was counted more than `times` times in the current span. */
async function count(on: Kysely<DB>, { key, times, ms }: { key: string; times: number; ms: number }) {
  const now = Date.now();
  const isOver = sql<boolean>`rate_limits.expire <= ${now}`;
  const { points } = await on
    .insertInto('rate_limits')
    .values({ key, points: 1, expire: now + ms })
    .onConflict((again) =>
      again.column('key').doUpdateSet({
        points: sql`case when ${isOver} then 1 else rate_limits.points + 1 end`,
        expire: sql`case when ${isOver} then excluded.expire else rate_limits.expire end`,
      }),
    )
    .returning('points')
    .executeTakeFirstOrThrow();
  return points <= times;
}

type Event = Pick<Insertable<AuditEvents>, 'type' | 'reason' | 'user_id'>;

function audit(on: Kysely<DB>, c: Context, event: Event, details = {}) {
  const trail = { address: addressOf(c), request_id: uuidv7(), details: JSON.stringify(details) };
  return insert(on, 'audit_events', { id: uuidv7(), ...event, ...trail });
}

/** Sends a notice by mail, unless the mailbox has had as many notices as it may get. */
async function notify(trx: Transaction<DB>, userId: string, email: string, kind: string) {
  if (!(await count(trx, { key: `notices-hour:${email}`, times: 20, ms: 60 * minuteMs }))) return;
  if (!(await count(trx, { key: `notices-day:${email}`, times: 60, ms: dayMs }))) return;
  await mail(trx, userId, email, kind);
}

async function mail(trx: Transaction<DB>, user_id: string, recipient: string, kind: string) {
  const now = new Date();
  const details = JSON.stringify({ at: now });
  await insert(trx, 'mails', {
    id: uuidv7(),
    kind,
    user_id,
    recipient,
    details,
    created_at: now,
    next_attempt_at: now,
  });
}

const at = { port: Number(process.env.PORT), hostname: '127.0.0.1' };
if ('Deno' in globalThis) Deno.serve({ ...at, onListen: () => undefined }, app.fetch);
else serve({ fetch: app.fetch, ...at });
