// Staff, the people they act on, and each act, as far as tests of the staff's rights need them.
import { randomBytes } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import { v7 as uuidv7 } from 'uuid';
import { expect } from 'vitest';
import type { DB } from '../../../db/schema.ts';
import { findUserById } from '../../../db/tables/users.ts';
import { digestFormBasis } from '../../../server/acts/act.ts';
import { looks, type Right } from '../../../server/acts/rights.ts';
import { stateSetSettings } from '../../../server/billing/settings/set-settings.ts';
import { readSettings } from '../../../server/billing/settings/settings.ts';
import { hashToken } from '../../../server/identity/ground/tokens.ts';
import { acts } from '../../../server/staff/acts.ts';
import { peopleActs } from '../../../server/staff/people-acts.ts';
import type { Answer, SendOptions, TestApp } from '../app/app.ts';
import { retryWhileBusy } from '../app/patience.ts';

type Intent = keyof typeof peopleActs;

const stated = [...Object.values(acts), stateSetSettings(() => readSettings({}))].map(
  ({ right: { name, ...right } }): [string, Right] => [name, right],
);

/** For each procedure of `admin`, the people whom managers and administrators may look at or change. */
export const rights = Object.fromEntries(
  [...Object.entries<Right>(looks), ...stated].map(([name, { manager = 'nobody', admin = 'everybody' }]) => [
    name,
    { manager, admin },
  ]),
);

export type Role = 'user' | 'manager' | 'admin';

export type Person = { id: string; accountId: string; email: string; role: Role };

type Given = { role?: Role; accountId?: string; name?: string; passwordHash?: string; id?: string };

/** Adds somebody who could log in, with a proved email address and a password. Nobody knows the password unless it is given. */
export async function addPerson(
  { db }: Pick<TestApp, 'db'>,
  { role = 'user', accountId, name = 'Test Person', passwordHash = 'none', id = uuidv7() }: Given = {},
): Promise<Person> {
  const email = `${id}@example.test`;
  const account = accountId ?? id;
  await sql`
    with account as (
      insert into accounts (id, name) values (${account}, 'Test') on conflict do nothing)
    insert into users (id, account_id, email, holds_email, email_verified_at, name, role, password_hash)
    values (${id}, ${account}, ${email}, true, now(), ${name}, ${role}, ${passwordHash})`.execute(db);
  return { id, accountId: account, email, role };
}

/** The cookie of a session in which that person has just given a credential, and a second factor. */
export async function addSession(
  { db, config }: Pick<TestApp, 'db' | 'config'>,
  userId: string,
  { amr = ['pwd', 'otp', 'mfa'], authTime = new Date() }: { amr?: string[]; authTime?: Date | null } = {},
): Promise<{ cookie: string; sessionId: string }> {
  const token = randomBytes(32).toString('base64url');
  const sessionId = uuidv7();
  await sql`
    insert into sessions (id, token_hash, user_id, created_at, last_seen_at, address, user_agent, auth_time, amr)
    values (${sessionId}, ${hashToken(token)}, ${userId}, greatest(now(), ${authTime}), greatest(now(), ${authTime}),
      '192.0.2.7', 'Test', ${authTime}, ${amr}::text[])`.execute(db);
  const prefix = config.issuer.startsWith('https:') ? '__Host-' : '';
  return { cookie: `${prefix}identity_session=${token}`, sessionId };
}

/** Gives somebody an authenticator app, whose secret nobody has. */
export const addFactor = (db: Kysely<DB>, { id }: Pick<Person, 'id'>) =>
  sql`insert into authenticators (user_id, sealed_secret, last_step, added_at, last_used_at)
    values (${id}, '\\x00', 0, now(), now())`.execute(db);

/** Somebody of the staff who has just logged in with their authenticator app. */
export async function addStaff(
  app: Pick<TestApp, 'db' | 'config'>,
  role: Role = 'admin',
  session: Parameters<typeof addSession>[2] = {},
) {
  const person = await addPerson(app, { role });
  await addFactor(app.db, person);
  return { ...person, ...(await addSession(app, person.id, session)) };
}

export const addLink = (
  db: Kysely<DB>,
  { id }: Pick<Person, 'id'>,
  sleepingSince: Date | null = new Date(),
) =>
  sql`insert into external_links (provider, external_id, user_id, applied_profile_updated_at, sleeping_since)
    values ('marketplace', ${`link-${id}`}, ${id}, now(), ${sleepingSince})`.execute(db);

export type ActCase = {
  intent: Intent;
  /** The act's audit event, if its name differs from the intent. */
  event?: string;
  /** The fields of the act's form beside `id`, `why` and `seen`. */
  fields: (target: Person) => Record<string, string>;
  /** Prepares the target so that the act can change something. */
  arrange?: (db: Kysely<DB>, target: Person) => Promise<unknown>;
  /** Reads from the database what the act changes. The result is different after the act. */
  look: (db: Kysely<DB>, target: Person) => Promise<unknown>;
};

const readUser =
  (...columns: string[]) =>
  async (db: Kysely<DB>, { id }: Person) =>
    (
      await sql`select ${sql.join(columns.map((each) => sql.ref(each)))} from users where id = ${id}`.execute(
        db,
      )
    ).rows;

const count =
  (table: string, condition = sql`true`) =>
  async (db: Kysely<DB>, { id }: Person) =>
    (
      await sql`select count(*)::int as n from ${sql.table(table)} where user_id = ${id} and ${condition}`.execute(
        db,
      )
    ).rows;

const none = () => ({});
const set = (assignment: ReturnType<typeof sql>) => (db: Kysely<DB>, target: Person) =>
  sql`update users set ${assignment} where id = ${target.id}`.execute(db);

/** Every act, by its procedure of `admin`. */
export const actCases: Record<string, ActCase> = {
  'people.suspend': { intent: 'suspend', fields: none, look: readUser('suspended_at') },
  'people.freeze': { intent: 'freeze', fields: none, look: readUser('frozen_at') },
  'people.resume': {
    intent: 'resume',
    fields: none,
    arrange: set(sql`suspended_at = now()`),
    look: readUser('suspended_at'),
  },
  'people.endSession': {
    intent: 'end-session',
    fields: ({ id }) => ({ session: id }),
    arrange: (db, { id }) =>
      sql`insert into sessions (id, token_hash, user_id, created_at, last_seen_at, address, user_agent)
        values (${id}, sha256(gen_random_uuid()::text::bytea), ${id}, now(), now(), '', '')
        on conflict (id) do update set ended_at = null`.execute(db),
    look: count('sessions', sql`ended_at is null`),
  },
  'people.endSessions': {
    intent: 'end-sessions',
    fields: none,
    arrange: (db, { id }) =>
      sql`insert into sessions (id, token_hash, user_id, created_at, last_seen_at, address, user_agent)
        values (gen_random_uuid(), sha256(gen_random_uuid()::text::bytea), ${id}, now(), now(), '', '')`.execute(
        db,
      ),
    look: count('sessions', sql`ended_at is null`),
  },
  'people.sendMail': {
    intent: 'send-mail',
    fields: () => ({ kind: 'set-password' }),
    look: count('mails', sql`kind = 'set_password'`),
  },
  'people.removeFactors': {
    intent: 'remove-factors',
    fields: none,
    arrange: addFactor,
    look: readUser('has_authenticator', 'password_hash'),
  },
  'people.decide': {
    intent: 'grant',
    fields: () => ({ what: 'sell_services', decision: 'yes' }),
    look: async (db, { accountId }) =>
      (await sql`select capabilities from accounts where id = ${accountId}`.execute(db)).rows,
  },
  'people.decideRights': {
    intent: 'decide',
    event: 'staff.grant',
    fields: () => ({ sell_services: 'yes' }),
    look: async (db, { accountId }) =>
      (await sql`select capabilities from accounts where id = ${accountId}`.execute(db)).rows,
  },
  'people.addNote': {
    intent: 'note',
    fields: () => ({ text: 'Prefers French' }),
    look: count('staff_notes'),
  },
  'people.deleteNote': {
    intent: 'delete-note',
    fields: ({ id }) => ({ note: id }),
    arrange: (db, { id }) =>
      sql`insert into staff_notes (id, user_id, text, at) values (${id}, ${id}, 'Prefers French', now())
        on conflict do nothing`.execute(db),
    look: count('staff_notes'),
  },
  'people.setRole': {
    intent: 'change-role',
    fields: ({ role }) => ({ role: role === 'user' ? 'manager' : 'user' }),
    look: readUser('role'),
  },
  'people.planDeletion': { intent: 'plan-deletion', fields: none, look: readUser('deletion_due_at') },
  'people.keep': {
    intent: 'keep',
    fields: none,
    arrange: set(sql`deletion_due_at = now() + interval '9 days'`),
    look: readUser('deletion_due_at'),
  },
  'people.changeEmail': {
    intent: 'change-email',
    fields: ({ id }) => ({ email: `new-${id}@example.com` }),
    look: count('audit_events', sql`type = 'staff.change_email'`),
  },
  'people.thaw': {
    intent: 'thaw',
    fields: ({ email }) => ({ keep: email, removeFactors: 'no' }),
    arrange: set(sql`frozen_at = now(), suspended_at = now()`),
    look: readUser('frozen_at'),
  },
  'people.removeLink': {
    intent: 'remove-link',
    fields: ({ id }) => ({ externalId: `link-${id}` }),
    arrange: addLink,
    look: count('external_links'),
  },
};

/** The digest that a form of this act on that person would carry now. */
async function seeNow({ db }: Pick<TestApp, 'db'>, intent: Intent, id: string): Promise<string> {
  const user = await findUserById(db, id);
  return user ? digestFormBasis(db, peopleActs[intent], user, new Date()) : '';
}

export const why = 'They called, and gave their invoice number.';

/** The fields that a form of that act would send now. */
export async function askFor(app: Pick<TestApp, 'db'>, name: string, target: Person) {
  const { intent, fields } = actCases[name] as ActCase;
  return { id: target.id, why, seen: await seeNow(app, intent, target.id), ...fields(target) };
}

/** Calls a procedure of `admin`. */
export const call = (
  { send }: Pick<TestApp, 'send'>,
  name: string,
  cookie: string,
  input: unknown,
  isQuery = false,
  options: SendOptions = {},
): Promise<Answer> =>
  retryWhileBusy(() =>
    isQuery
      ? send(`/trpc/admin.${name}?input=${encodeURIComponent(JSON.stringify({ json: input }))}`, {
          cookie,
          ...options,
        })
      : send(`/trpc/admin.${name}`, { cookie, json: { json: input }, ...options }),
  );

/** Opens all tabs of a person's page. Returns the answer of the first tab, with the text of all tabs. */
export async function openTabs(open: (path: string) => Promise<Answer>, path: string): Promise<Answer> {
  const first = await open(path);
  const others = ['billing', 'rights', 'activity', 'mails', 'products'];
  const texts = await Promise.all(others.map(async (tab) => (await open(`${path}/${tab}`)).text));
  return { ...first, text: [first.text, ...texts].join('\n') };
}

/** Returns the forms of a page of staff, by intent and what they are about. */
export function formsOf({ text }: Answer): Map<string, Record<string, string>> {
  const forms = [...text.matchAll(/<form [^>]*data-intent="([^"]+)"[^>]*>(.*?)<\/form>/gs)];
  return new Map(
    forms.map(([, intent = '', inside = '']) => {
      const fields = Object.fromEntries(
        [...inside.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)"/g)].map(
          ([, name = '', value = '']) => [name, value],
        ),
      );
      const { seen: _, ...about } = fields;
      expect(inside, intent).toMatch(/<p data-notice/);
      return [[intent, ...Object.values(about)].join(' '), { ...fields, intent }];
    }),
  );
}

/** Status and code of an answer of /trpc. */
export function readOutcome({ status, text }: Answer): string {
  if (status === 200) return '200';
  return `${status} ${JSON.parse(text).error.json.data.problem}`;
}

export const readData = ({ text }: Answer) => JSON.parse(text).result?.data?.json;

/**
 * Returns one text for each table. The text changes with any row, except for events that say that staff viewed people, mails
 * being sent, and what instances count.
 */
export async function digestAll(db: Kysely<DB>): Promise<Record<string, string>> {
  const { rows: tables } = await sql<{ name: string }>`
    select table_name as name from information_schema.tables
    where table_schema = 'public' and table_type = 'BASE TABLE'
      and table_name not in ('mail_tokens', 'person_words', 'people_to_index', 'sums_of_hours') order by 1`.execute(
    db,
  );
  const digests = tables.map(
    ({ name }) => sql`select ${sql.lit(name)} as name,
      md5(string_agg(kept.row::text, '|' order by kept.row::text)) as digest
      from ${sql.table(name)} t, lateral (select ${keptOf(name)} as row) kept
      where ${name === 'audit_events' ? sql`type not in ('staff.looked', 'staff.searched')` : sql`true`}`,
  );
  const { rows } = await sql<{ name: string; digest: string }>`
    ${sql.join(digests, sql` union all `)} order by name`.execute(db);
  return Object.fromEntries(rows.map(({ name, digest }) => [name, digest]));
}

const keptOf = (table: string) =>
  table === 'mails' ? sql`jsonb_build_array(t.id, t.kind, t.recipient)` : sql`to_jsonb(t) - 'last_seen_at'`;
