// Answers do not show who has an account: they have the same status, headers and text for all, and take the same time, which
// only the long form measures.
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { hashPassword } from '../../server/identity/password/passwords.ts';
import { type Answer, openApp, type SendOptions } from '../support/app/app.ts';
import { byForm, noteFigures } from '../support/faults/faults.ts';
import { shared } from '../support/run/shared.ts';

const tries = byForm({ short: 3, long: 300 });
const isLong = byForm({ short: false, long: true });
const kinds = ['held', 'no-password', 'other', 'unknown'] as const;
type Kind = (typeof kinds)[number];

const now = new Date();
const app = shared(() => openApp({ now: () => now }));
beforeAll(async () => {
  await populate();
});

const emailOf = (kind: Kind, n: number) => `timing-${kind}-${n}@example.test`;
const tokenOf = (who: string) => who.padEnd(43, 'x');
const cookieOf = (who: string) => `identity_session=${tokenOf(who)}`;

/**
 * Adds people of each kind. For each email address it also adds a marketplace user who has typed that address. A few more users
 * change their email address.
 */
async function populate(): Promise<void> {
  const passwordHash = await hashPassword('seven quiet lanterns');
  type Person = { who: string; email: string; holds: boolean; hash: string | null; suspended: boolean };
  const people: Person[] = [];
  const add = (who: string, email: string, more: Partial<Person> = {}) =>
    people.push({ who, email, holds: true, hash: null, suspended: false, ...more });
  for (let n = 0; n < tries; n++) {
    add('', emailOf('held', n), { hash: passwordHash });
    add('', emailOf('no-password', n));
    if (n % 2) add('', emailOf('other', n), { hash: passwordHash, suspended: true });
    else add('', emailOf('other', n), { holds: false });
    for (const kind of kinds) add(`typed-${kind}-${n}`, emailOf(kind, n), { holds: false });
  }
  for (let lane = 0; lane < lanes; lane++)
    add(`actor-${lane}`, `timing-actor-${lane}@example.test`, { hash: passwordHash });
  await sql`
    with people as (
      select *, gen_random_uuid() as id, gen_random_uuid() as account_id
      from jsonb_to_recordset(${JSON.stringify(people)}::jsonb)
        as p(who text, email text, holds boolean, hash text, suspended boolean)
    ), made_accounts as (
      insert into accounts (id, name, capabilities) select account_id, 'Timing', '{}' from people
    ), made_users as (
      insert into users (id, account_id, email, holds_email, name, password_hash, email_verified_at, suspended_at)
      select id, account_id, email, holds, 'Timing', hash, case when holds then now() end,
        case when suspended then now() end
      from people
    )
    insert into sessions (id, token_hash, user_id, created_at, last_seen_at, auth_time, amr, address, user_agent)
    select gen_random_uuid(), sha256(rpad(who, 43, 'x')::bytea), id, ${now}, ${now}, ${now}, '{pwd}', '192.0.2.1', ''
    from people where who <> ''`.execute(app.db);
}

type Ask = (kind: Kind, n: number, lane: number) => Promise<Answer>;
// How many requests of a kind are sent at the same time, if such a request mostly waits for its answer.
const lanes = 6;

const post = (path: string, form: Record<string, string>, options: SendOptions = {}) =>
  app.send(path, { form, from: newNetwork(), ...options });
let networks = 0;
/** Returns an IP address in a network for which no limit has counted anything. */
const newNetwork = () => `10.${(++networks >> 8) & 255}.${networks & 255}.1`;

const asks: [what: string, status: number, lanes: number, ask: Ask][] = [
  ['a login', 401, 1, (kind, n) => post('/login', { email: emailOf(kind, n), password: 'not the password' })],
  ['a sign-up', 303, lanes, (kind, n) => post('/signup', { email: emailOf(kind, n), name: 'Tia Time' })],
  [
    'a mail to reset a password',
    303,
    lanes,
    (kind, n) => post('/forgot-password', { email: emailOf(kind, n) }),
  ],
  [
    'a mail that is sent again',
    303,
    1,
    (kind, n) => post('/verify-email', {}, { cookie: cookieOf(`typed-${kind}-${n}`) }),
  ],
  [
    'a change of address',
    303,
    lanes,
    (kind, n, lane) =>
      post('/profile/email', { email: emailOf(kind, n) }, { cookie: cookieOf(`actor-${lane}`) }),
  ],
];

it.each(asks)(
  '%s is answered alike, whatever the address is here',
  async (what, status, width, ask) => {
    const times = new Map<Kind, number[]>(kinds.map((kind) => [kind, []]));
    const looks = new Set<string>();
    const rounds = Array.from({ length: tries }, (_, n) => n);
    await Promise.all(
      Array.from({ length: width }, async (_, lane) => {
        for (let n = rounds.shift(); n !== undefined; n = rounds.shift()) {
          // Each kind is asked first, second, third and fourth equally often.
          const turned = [...kinds.slice(n % 4), ...kinds.slice(0, n % 4)];
          for (const kind of turned) {
            const startedAt = performance.now();
            const answer = await ask(kind, n, lane);
            times.get(kind)?.push(performance.now() - startedAt);
            expect(answer.status).toBe(status);
            looks.add(lookOf(answer, emailOf(kind, n)));
          }
        }
      }),
    );
    expect([...looks]).toHaveLength(1);
    const medians = Object.fromEntries([...times].map(([kind, ms]) => [kind, medianOf(ms)]));
    noteFigures(
      `${what}, median in microseconds`,
      Object.fromEntries(Object.entries(medians).map(([kind, ms]) => [kind, ms * 1_000])),
    );
    if (!isLong) return;
    const [least, most] = [Math.min(...Object.values(medians)), Math.max(...Object.values(medians))];
    expect(most - least).toBeLessThanOrEqual(Math.max(5, most * 0.03));
  },
  byForm({ short: 60_000, long: 400_000 }),
);

/** Returns the answer as a text, without what is different at each request. */
function lookOf({ status, headers, text }: Answer, email: string): string {
  const shown = [...headers].filter(([name]) => name !== 'x-request-id');
  return JSON.stringify([status, shown, text])
    .replaceAll(email, 'EMAIL')
    .replaceAll(encodeURIComponent(email), 'EMAIL')
    .replace(/nonce(-|=\\")[\w+/=-]+/g, 'NONCE');
}

function medianOf(values: number[]): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.floor(sorted.length / 2)] ?? 0;
}
