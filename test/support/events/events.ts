// Clients that read events, and people whom the events are about.
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { expect } from 'vitest';
import type { Database } from '../../../db/postgres/client.ts';
import type { StandardProfile } from '../../../server/sso/payload.ts';
import { type Answer, locationOf, type TestInstance } from '../app/app.ts';

export type WireEvent = {
  seq: number;
  type: string;
  occurred_at: string;
  user_id: string;
  profile?: StandardProfile;
  sid?: string;
  signup_id?: string;
  contract?: Record<string, unknown>;
};
export type WirePage = { events: WireEvent[]; latest: number };

type Reader = Pick<TestInstance, 'send' | 'config'>;

export const tokenOf = (secret: string, client: string) =>
  createHmac('sha256', secret).update(`identity events v1 ${client}`).digest('hex');

export const bearerOf = ({ config }: Pick<Reader, 'config'>, client: string) => ({
  authorization: `Bearer ${tokenOf(config.clients.get(client)?.secrets[0] ?? '', client)}`,
});

/** `query` is what follows the path. */
export const askForEvents = (instance: Reader, client: string, query = ''): Promise<Answer> =>
  instance.send(`/sso/events${query}`, { headers: bearerOf(instance, client) });

/** Pulls as a client does, and repeats the pull while this machine is too busy. */
export async function pull(instance: Reader, client: string, query = ''): Promise<WirePage> {
  for (let tries = 1; ; tries++) {
    const { status, text } = await askForEvents(instance, client, query);
    if (status === 200) return JSON.parse(text);
    if (status !== 503 || tries === 10) throw new Error(`events answered ${status} ${text}`);
    await new Promise((done) => setTimeout(done, 200));
  }
}

/** Reads all events after the number `after`. Expects that their numbers have no gap. */
export async function readOn(instance: Reader, client: string, after = 0): Promise<WireEvent[]> {
  const all: WireEvent[] = [];
  for (let at = after; ; ) {
    const { events, latest } = await pull(instance, client, `?after=${at}&limit=1000`);
    expect(events.map(({ seq }) => seq)).toEqual(events.map((_, n) => at + 1 + n));
    all.push(...events);
    at += events.length;
    if (at === latest) return all;
  }
}

export const latestOf = async (instance: Reader, client: string): Promise<number> =>
  (await readOn(instance, client)).at(-1)?.seq ?? 0;

export type Person = { id: string; accountId: string; email: string };

let serial = 0;

/** Adds somebody with a proved email address, who was never handed over to a client. */
export async function addPerson(db: Database, name = `Person ${++serial}`): Promise<Person> {
  const person = { id: uuidv7(), accountId: uuidv7(), email: `${uuidv7()}@example.test` };
  await sql`
    with account as (insert into accounts (id, name, capabilities) values (${person.accountId}, ${name}, '{}'))
    insert into users (id, account_id, email, holds_email, name, email_verified_at)
      values (${person.id}, ${person.accountId}, ${person.email}, true, ${name}, now())`.execute(db);
  return person;
}

export async function openSession(db: Database, { id }: Pick<Person, 'id'>): Promise<string> {
  const token = randomBytes(32).toString('base64url');
  await sql`
    insert into sessions (id, token_hash, user_id, created_at, last_seen_at, auth_time, amr, address, user_agent)
      values (${uuidv7()}, ${createHash('sha256').update(token).digest()}, ${id}, now(), now(), now(), '{pwd}',
        '192.0.2.1', '')`.execute(db);
  return `identity_session=${token}`;
}

export type Payload = { sid: string; profile: StandardProfile };

/** Launches the client. Returns the payload of the hand-off. */
export async function launch({ send }: Reader, client: string, cookie: string): Promise<Payload> {
  const answer = await send(`/sso/launch/${client}`, { cookie });
  const payload = locationOf(answer).searchParams.get('payload');
  if (answer.status !== 303 || !payload) throw new Error(`the launch answered ${answer.status}`);
  return JSON.parse(Buffer.from(payload, 'base64url').toString());
}

/** Hands somebody new over to these clients. Returns the cookie of their session, and what each client got. */
export async function addVisitor(
  app: Reader & { db: Database },
  ...clients: string[]
): Promise<Person & { cookie: string; payloads: Payload[] }> {
  const person = await addPerson(app.db);
  const cookie = await openSession(app.db, person);
  const payloads: Payload[] = [];
  for (const client of clients) payloads.push(await launch(app, client, cookie));
  return { ...person, cookie, payloads };
}

/** Deletes somebody who has no contract, and their account, as an operator might by hand. */
export async function deletePerson(db: Database, { id, accountId }: Person): Promise<void> {
  await againAfterDeadlock(() =>
    db.transaction().execute(async (trx) => {
      await sql`delete from users where id = ${id}`.execute(trx);
      await sql`delete from accounts where id = ${accountId}`.execute(trx);
    }),
  );
}

/** Tries again after a deadlock, as people who type SQL have to. */
export async function againAfterDeadlock<T>(work: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if ((error as { code?: string }).code !== '40P01') throw error;
    }
  }
}
