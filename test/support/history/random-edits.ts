// Random changes of people, accounts, links and contracts, many at the same time. They go through every door of the service:
// pages, procedures, messages, files, commands and SQL.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { isDatabaseAway } from '../../../db/postgres/away.ts';
import { importProfiles } from '../../../server/marketplace/import.ts';
import type { Answer, TestApp, TestInstance } from '../app/app.ts';
import { runCli } from '../app/cli.ts';
import { type Browser, openBrowser } from '../app/visitor.ts';
import { buildSignup, sendSignup } from '../crm/crm.ts';
import type { OtherRole } from '../database/database-role.ts';
import { buildHandOff } from '../marketplace/marketplace.ts';
import { liftAllowances } from '../people/allowances.ts';
import { runErasure } from '../people/leaving.ts';
import { createRandom } from '../run/random.ts';

export const doors = [
  ...['page', 'tRPC', 'hand-off', 'Connect', 'import', 'signup', 'deletion', 'SQL', 'erasure'],
  'command line',
] as const;
export type Door = (typeof doors)[number];

export type Edits = {
  app: TestApp;
  instances: Pick<TestInstance, 'send' | 'config'>[];
  other: OtherRole;
  /** The folder for files to import. */
  folder: string;
  seed: number;
};

type Writer = {
  random: () => number;
  pick: <T>(of: readonly T[]) => T;
  send: TestApp['send'];
  config: TestApp['config'];
  browser: Browser;
  email: string;
};

/** How many of a thousand edits use each door, such as a page or a command. A command is a process, which takes a second. */
const weights: Record<Door, number> = {
  page: 140,
  tRPC: 140,
  'hand-off': 220,
  Connect: 40,
  import: 80,
  signup: 150,
  deletion: 40,
  SQL: 167,
  erasure: 20,
  'command line': 3,
};

const owners = ['merchant', 'customer', 'new-merchant', 'manager'].map((name) => `${name}@example.test`);
const people = Array.from({ length: 14 }, (_, n) => `edit-${n}`);
const capabilities = ['manage_storefront', 'sell_media_inventory', 'sell_products', 'sell_services'];

/** Makes random edits, and counts them by door. Throws for an answer that nobody should get. */
export async function makeEdits(edits: Edits, { count, writers = 16 }: { count: number; writers?: number }) {
  await liftAllowances(edits.app.db);
  const made = Object.fromEntries(doors.map((door) => [door, 0])) as Record<Door, number>;
  let left = count;
  let serial = 0;
  const next = () => ++serial;
  const write = async (place: number) => {
    const writer = createWriter(edits, place);
    while (left-- > 0) {
      // The first edits use each door at least once.
      const door = doors[count - left - 1] ?? pickDoor(writer.random());
      await through[door](edits, writer, next).catch((error) => {
        left = 0;
        throw error;
      });
      made[door]++;
    }
  };
  const ends = await Promise.allSettled(Array.from({ length: writers }, (_, place) => write(place)));
  for (const end of ends) if (end.status === 'rejected') throw end.reason;
  return made;
}

function createWriter({ instances, seed }: Edits, place: number): Writer {
  const random = createRandom(seed + place);
  const { send, config } = instances[place % instances.length] as TestInstance;
  const pick: Writer['pick'] = (of) => of[Math.floor(random() * of.length)] as (typeof of)[number];
  return { random, pick, send, config, browser: openBrowser(send), email: pick(owners) };
}

function pickDoor(share: number): Door {
  let rest = share * 1_000;
  const found = doors.find((door) => {
    rest -= weights[door];
    return rest < 0;
  });
  return found ?? 'SQL';
}

/** Sends a request as the account's owner. If another edit has suspended or erased the owner, the owner logs in again. */
async function asOwner(writer: Writer, path: string, options: Parameters<Browser['send']>[1]) {
  let answer = await writer.browser.send(path, options);
  const isOut = (status: number, to: string | null) =>
    status === 401 || (status === 303 && /^\/login/.test(to ?? ''));
  if (!isOut(answer.status, answer.headers.get('location'))) return answer;
  writer.browser = openBrowser(writer.send);
  const login = await writer.browser.login(writer.email);
  expectOneOf(login, 303, 401, 403, 429);
  if (login.status === 303) answer = await writer.browser.send(path, options);
  return answer;
}

/**
 * Expects one of these statuses, or 503: many edits run at the same time, and a busy machine answers some without doing
 * anything.
 */
function expectOneOf({ status, text }: Pick<Answer, 'status' | 'text'>, ...expected: number[]): void {
  if (![...expected, 503].includes(status)) throw new Error(`answered ${status}: ${text.slice(0, 300)}`);
}

const profileOf = ({ pick, random }: Writer, n: number) => ({
  name: `Name ${n}`,
  email: `${pick(people)}@example.test`,
  emailVerified: random() < 0.7,
  accountName: random() < 0.5 ? `Account ${n}` : undefined,
  role: pick(['customer', 'merchant'] as const),
  capabilities: capabilities.filter(() => random() < 0.4),
  // Each profile is later than the one before, so that the service applies it.
  profileUpdatedAt: new Date(Date.UTC(2026, 0, 1) + n * 1_000),
});

const statements = [
  (n: number) =>
    sql`update users set name = ${`SQL ${n}`} where id = (select id from users order by random() limit 1)`,
  () => sql`update users set role = case role when 'manager' then 'user' else 'manager' end
    where email like 'edit-%' and id = (select id from users order by random() limit 1)`,
  () => sql`update users set email_verified_at = case when email_verified_at is null then now() end
    where holds_email and not has_passkey and id = (select id from users order by random() limit 1)`,
  () => sql`update users set account_id = (select id from accounts order by random() limit 1)
    where id = (select id from users where email like 'edit-%' order by random() limit 1)`,
  (
    n: number,
  ) => sql`update accounts set name = ${`SQL ${n}`}, verified_at = now(), capabilities = '{sell_services}'
    where id = (select id from accounts order by random() limit 1)`,
  () => sql`update service_contracts set plan = 'sql-' || round(random() * 9), price_currency = 'EUR',
    price_unit_amount = round(random() * 9999), price_interval = 'year'
    where id = (select id from service_contracts order by random() limit 1)`,
  () => sql`update external_links set sleeping_since = now()
    where external_id = (select external_id from external_links order by random() limit 1)`,
  () => sql`delete from external_links
    where external_id = (select external_id from external_links order by random() limit 1)`,
  // This statement sets columns to the values that they have, so it changes nothing.
  () => sql`update users set created_at = created_at, name = name
    where id = (select id from users order by random() limit 1)`,
];

const through: Record<Door, (edits: Edits, writer: Writer, next: () => number) => Promise<void>> = {
  async page(_, writer, next) {
    const form = { intent: 'names', name: `Page ${next()}`, accountName: `Page account ${next()}` };
    expectOneOf(await asOwner(writer, '/profile', { form }), 303, 401);
  },
  async tRPC(_, writer, next) {
    const json = { json: { [writer.pick(['name', 'accountName'])]: `tRPC ${next()}` } };
    expectOneOf(await asOwner(writer, '/trpc/profile.update', { json }), 200, 401);
  },
  async 'hand-off'({ app }, writer, next) {
    const url = await buildHandOff(app, { id: writer.pick(people), ...profileOf(writer, next()) });
    expectOneOf(await writer.send(url), 303, 403, 409);
  },
  /** A hand-off of a demo user, who logs in and connects the account at the marketplace. */
  async Connect({ app }, writer, next) {
    const profile = { ...profileOf(writer, next()), email: writer.email, emailVerified: true };
    const asked = await asOwner(writer, await buildHandOff(app, { id: writer.pick(people), ...profile }), {});
    expectOneOf(asked, 303, 403, 409);
    const page = asked.headers.get('location') ?? '';
    if (page.startsWith('/continue'))
      expectOneOf(await writer.browser.send(page, { form: {} }), 200, 303, 403, 404, 409);
  },
  async import({ app }, writer, next) {
    const lines = Array.from({ length: 3 }, () => writeLine(writer, next()));
    async function* read() {
      for (const line of lines) yield new TextEncoder().encode(line);
    }
    await retry(() =>
      importProfiles(app.db, read(), {
        config: { production: false },
        now: () => new Date(),
        name: 'edits.ndjson',
        isStopped: () => false,
        onBatch: async () => {},
      }),
    );
  },
  async signup(_, writer, next) {
    const person = writer.pick(people);
    const now = new Date();
    const signup = buildSignup(`crm_${writer.pick(people)}`, {
      user: { email: `${person}@example.test`, name: `Signup ${next()}` },
      // Each report is later than the one before, so that the service applies it.
      occurred_at: now.toISOString(),
    });
    signup.contract.status = writer.pick(['trialing', 'active']);
    signup.contract.plan = `plan-${next() % 7}`;
    if (writer.random() < 0.3) delete signup.contract.price;
    expectOneOf(await sendSignup({ send: writer.send, config: writer.config }, signup), 200, 201);
  },
  async deletion(_, writer) {
    const form = { intent: writer.pick(['delete', 'keep']) };
    expectOneOf(await asOwner(writer, '/profile/delete', { form }), 200, 303, 401, 409, 422);
  },
  async SQL({ other }, writer, next) {
    const statement = writer.pick(statements);
    await retry(() => statement(next()).execute(other.db));
  },
  /** Erases somebody whose deletion is due, but none of the demo users, because they make the edits. */
  async erasure({ app, other }) {
    await retry(() =>
      sql`update users set deletion_due_at = now() - interval '1 second', suspended_at = null
        where id = (select id from users where email like 'edit-%' order by random() limit 1)`.execute(
        other.db,
      ),
    );
    await retry(() => runErasure(app.db));
  },
  async 'command line'({ app, folder }, writer, next) {
    const email = `${writer.pick(people)}@example.test`;
    const file = join(folder, `edits-${next()}.ndjson`);
    await writeFile(file, writeLine(writer, next()));
    const args = writer.pick([
      ['user:suspend', email],
      ['user:resume', email],
      ['contract:cancel', `crm_${writer.pick(people)}`],
      ['user:delete', email],
      ['import', file],
    ]);
    // The command fails if there is no such user.
    expectOneOf({ status: (await runCli(app.databaseUrl, args)).code ?? -1, text: args.join(' ') }, 0, 1);
  },
};

function writeLine(writer: Writer, n: number): string {
  const {
    emailVerified,
    accountName,
    profileUpdatedAt,
    capabilities: granted,
    ...profile
  } = profileOf(writer, n);
  return JSON.stringify({
    ...profile,
    id: writer.pick(people),
    email_verified: emailVerified,
    account: { name: accountName, capabilities: granted },
    profile_updated_at: profileUpdatedAt.toISOString(),
  });
}

/** Tries again, because statements on several rows may deadlock when many run at the same time. */
async function retry(work: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      const { code, cause } = error as { code?: string; cause?: unknown };
      const isInTheWay =
        ['40P01', '23503', '57014'].includes(code ?? '') || isDatabaseAway(error) || isDatabaseAway(cause);
      if (attempt === 20 || !isInTheWay) throw error;
    }
  }
}
