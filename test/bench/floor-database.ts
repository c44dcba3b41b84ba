// How the floor speaks to Postgres: bare pg, and the statements that several of its answers share.
import { createHash } from 'node:crypto';
import pg from 'pg';
import { v7 as uuidv7 } from 'uuid';

export const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest();

type Client = Pick<pg.Pool, 'query'>;

export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });

/** What the service reads of a user and their account. */
export const userColumns = `u.id as user_id, u.email, u.holds_email, u.email_verified_at, u.name, u.name_edited_at, u.role,
    u.password_hash is not null as has_password, u.has_passkey, u.has_authenticator, u.suspended_at, u.deletion_due_at,
    u.profile_updated_at, a.id as account_id, a.name as account_name, a.capabilities, a.verified_at`;

const names = new Map<string, string>();

/** Prepares statements, as the service does. */
export async function query(client: Client, text: string, values: unknown[]) {
  let name = names.get(text);
  if (!name) {
    name = `f_${names.size}`;
    names.set(text, name);
  }
  return (await client.query({ name, text, values })).rows;
}

export async function inTransaction(work: (client: pg.PoolClient) => Promise<void>): Promise<void> {
  const client = await pool.connect();
  try {
    await client.query('begin');
    await work(client);
    await client.query('commit');
  } finally {
    client.release();
  }
}

export async function insertAuditEvent(
  client: Client,
  event: { type: string; reason?: string; userId: string; address: string; details: object },
): Promise<void> {
  const { type, reason = null, userId, address, details } = event;
  await query(
    client,
    'insert into audit_events (id, type, reason, user_id, address, request_id, details) values ($1, $2, $3, $4, $5, $6, $7)',
    [uuidv7(), type, reason, userId, address, uuidv7(), JSON.stringify(details)],
  );
}

export async function insertSession(
  client: Client,
  session: { token: string; userId: string; address: string },
): Promise<void> {
  const now = new Date();
  await query(
    client,
    'insert into sessions (id, token_hash, user_id, created_at, last_seen_at, auth_time, amr, address, user_agent) values ($1, $2, $3, $4, $5, $6, $7, $8, $9)',
    [uuidv7(), sha256(session.token), session.userId, now, now, now, ['pwd'], session.address, 'bench'],
  );
}

/** As the rate limiter of the service counts. */
export async function countTry(key: string): Promise<void> {
  const now = Date.now();
  await query(
    pool,
    `insert into rate_limits values ($1, 1, $2) on conflict (key) do update set
      points = case when rate_limits.expire <= $3 then 1 else rate_limits.points + 1 end,
      expire = case when rate_limits.expire <= $3 then $2 else rate_limits.expire end
      returning points, expire`,
    [key, now + 900_000, now],
  );
}

export async function insertMail(
  client: Client,
  kind: string,
  userId: string,
  recipient: string | undefined,
): Promise<void> {
  await query(
    client,
    `insert into mails (id, kind, user_id, recipient, details, created_at, next_attempt_at)
     values ($1, $2, $3, $4, $5, $6, $6)`,
    [uuidv7(), kind, userId, recipient, JSON.stringify({ at: new Date() }), new Date()],
  );
}
