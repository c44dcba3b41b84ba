// Clients that change things over and over while the database comes and goes. They remember what was acknowledged. They send
// each hand-off only one time, because it works only one time.
import { sql } from 'kysely';
import pLimit from 'p-limit';
import type { Database } from '../../../db/postgres/client.ts';
import { buildHandOffUrl } from '../../../server/doors/demo/legacy-marketplace.ts';
import type { Config } from '../../../server/settings/config.ts';
import { tokenOf } from '../../bench/population.ts';
import { buildSignup, freshWebhookId, signMessage } from '../crm/crm.ts';

/** The users of `populate` from this number on are logged out, each user one time. */
const firstToLogOut = 100;
const editors = [1, 2, 3];
const launchers = [4, 5];

const limit = pLimit(8);
const atOnce = <T>(all: T[], work: (one: T) => Promise<void>) =>
  Promise.all(all.map((one) => limit(() => work(one))));

type Sent = { method?: string; headers?: Record<string, string>; body?: string };
type Got = { status: number; headers: Headers; text: string };

export type Clients = {
  /** Runs all clients until `work` is done. */
  during: (work: () => Promise<void>) => Promise<void>;
  /** Waits until every instance has acknowledged changes for a few seconds in a row. */
  areServed: () => Promise<void>;
  /** The longest time since the last call in which one instance acknowledged no change. */
  longestGapMs: () => number;
  /** Answers so far that broke the contract. */
  faults: string[];
  /** How many answers of each kind of request had each status. */
  statuses: () => Record<string, Record<number, number>>;
  slowestMs: () => number;
  /** Returns rows that break the contract. Call this at the end. */
  findLosses: (db: Database) => Promise<string[]>;
};

/** `targets` are the URLs of the instances. The database holds the people of `populate`. */
export function createClients(targets: string[], config: Config): Clients {
  const faults: string[] = [];
  const counts = new Map<string, Map<number, number>>();
  const acknowledgedAt = new Map(targets.map((target) => [target, [performance.now()]]));
  let [slowestMs, isRunning, serial] = [0, false, 0];

  const send = async (target: string, path: string, { method, headers, body }: Sent = {}): Promise<Got> => {
    const answer = await fetch(target + path, {
      method,
      headers: { origin: config.baseUrl, ...headers },
      body,
      redirect: 'manual',
      signal: AbortSignal.timeout(20_000),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const cookieOf = (user: number) => ({ cookie: `__Host-identity_session=${tokenOf(user)}` });
  const anyTarget = () => targets[Math.floor(Math.random() * targets.length)] ?? '';

  /** Sends one request. An answer that is neither expected nor a correct 503 is a fault. */
  const attempt = async (kind: string, path: string, sent: Sent, expected: number[], to?: string) => {
    const target = to ?? anyTarget();
    const startedAt = performance.now();
    const got = await send(target, path, sent).catch((error) => String(error));
    slowestMs = Math.max(slowestMs, performance.now() - startedAt);
    if (typeof got === 'string') {
      faults.push(`${kind}: ${got}`);
      return undefined;
    }
    const ofKind = counts.get(kind) ?? new Map<number, number>();
    counts.set(kind, ofKind.set(got.status, (ofKind.get(got.status) ?? 0) + 1));
    if (expected.includes(got.status)) return { ...got, target };
    const isAway = got.status === 503 && got.headers.has('retry-after') && !got.headers.has('location');
    // The previous try may still be under way (contract 7.21).
    const isInProgress = got.status === 409 && got.text.includes('"request_in_progress"');
    if (!isAway && !(kind === 'signup' && isInProgress))
      faults.push(`${kind}: ${got.status} ${got.text.slice(0, 200)}`);
    return undefined;
  };
  const pause = (ms: number) => new Promise((done) => setTimeout(done, ms));
  const untilAcknowledged = async (kind: string, path: string, sent: Sent, expected: number[]) => {
    for (let tries = 0; tries < 2_000; tries++) {
      const got = await attempt(kind, path, sent, expected);
      if (got) {
        acknowledgedAt.get(got.target)?.push(performance.now());
        return got;
      }
      if (!isRunning) return undefined;
      await pause(100 + Math.random() * 200);
    }
    throw new Error(`${kind} was not acknowledged in 2,000 tries`);
  };
  const postForm = (user: number, form: Record<string, string>): Sent => ({
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...cookieOf(user) },
    body: String(new URLSearchParams(form)),
  });

  const edits = new Map(editors.map((user) => [user, { acknowledged: 0 }]));
  const edit = async (user: number) => {
    const own = edits.get(user);
    if (!own) return;
    const names = { intent: 'names', name: `Edit ${own.acknowledged + 1}`, accountName: `Account ${user}` };
    if (await untilAcknowledged('edit', '/profile', postForm(user, names), [303])) own.acknowledged++;
  };

  const signups: { id: string; sent: Sent; answer?: string }[] = [];
  const pushSignup = async () => {
    const id = `failover_${++serial}`;
    // In production, nobody can have an email address below `test`.
    const user = { email: `${id.toLowerCase()}@example.com`, name: `User ${id}` };
    const body = JSON.stringify(buildSignup(id, { user }));
    const headers = signMessage(config.crmSignupsSecrets?.[0] ?? '', body, { webhookId: freshWebhookId() });
    const signup: (typeof signups)[number] = { id, sent: { method: 'POST', headers, body } };
    signups.push(signup);
    // If the first answer was lost, the repeat gets the same bytes.
    const got = await untilAcknowledged('signup', '/integrations/crm/signups', signup.sent, [201]);
    signup.answer = got?.text;
  };

  const handOffs: { id: string; path: string; isAcknowledged: boolean }[] = [];
  const handOver = async () => {
    const id = `failover-${++serial}`;
    const user = {
      id,
      email: `${id}@example.com`,
      name: id,
      role: 'customer',
      capabilities: [],
      profileUpdatedAt: new Date(0),
    };
    const { pathname, search } = new URL(await buildHandOffUrl(config, user, new Date()));
    const handOff = { id, path: pathname + search, isAcknowledged: false };
    handOffs.push(handOff);
    const got = await attempt('hand-off', handOff.path, {}, [303]);
    handOff.isAcknowledged = got !== undefined;
    if (got) acknowledgedAt.get(got.target)?.push(performance.now());
    else await pause(200);
  };

  const loggedOut: number[] = [];
  let nextToLogOut = firstToLogOut;
  const logOut = async () => {
    const user = nextToLogOut++;
    if (!(await untilAcknowledged('logout', '/logout', postForm(user, {}), [303]))) return;
    loggedOut.push(user);
    // The logout takes effect immediately, on every instance.
    for (const target of targets)
      await attempt('logged out', '/sso/profile', { headers: cookieOf(user) }, [401], target);
  };

  const launch = async (user: number) => {
    const got = await attempt(
      'launch',
      '/sso/launch/marketplace?state=s',
      { headers: cookieOf(user) },
      [303],
    );
    const { searchParams } = new URL(got?.headers.get('location') ?? 'https://none.test?payload&signature');
    if (!searchParams.has('payload') || !searchParams.has('signature'))
      faults.push(`launch: led to ${searchParams}`);
  };

  const work: (() => Promise<void>)[] = [
    ...editors.map((user) => () => edit(user)),
    ...launchers.map((user) => () => launch(user)),
    pushSignup,
    pushSignup,
    handOver,
    handOver,
    logOut,
  ];
  return {
    faults,
    slowestMs: () => slowestMs,
    statuses: () =>
      Object.fromEntries([...counts].map(([kind, ofKind]) => [kind, Object.fromEntries(ofKind)])),
    async during(happening) {
      isRunning = true;
      for (const times of acknowledgedAt.values()) times.splice(0, times.length, performance.now());
      const clients = work.map(async (once) => {
        while (isRunning) {
          await once();
          await pause(10 + Math.random() * 40);
        }
      });
      try {
        await happening();
      } finally {
        isRunning = false;
        await Promise.all(clients);
      }
    },
    async areServed() {
      for (let calmMs = 0; calmMs < 3_000; calmMs += 200) {
        await pause(200);
        const last = [...acknowledgedAt.values()].map((times) => times.at(-1) ?? 0);
        if (performance.now() - Math.min(...last) > 1_000) calmMs = 0;
      }
    },
    longestGapMs: () =>
      Math.max(
        ...[...acknowledgedAt.values()].flatMap((times) =>
          [...times, performance.now()].map((at, index) => at - (times[index - 1] ?? at)),
        ),
      ),

    async findLosses(db) {
      const losses: string[] = [];
      const expectThat = (holds: boolean, loss: string) => {
        if (!holds) losses.push(loss);
      };
      const count = async (query: ReturnType<typeof sql<{ n: number }>>) =>
        (await query.execute(db)).rows[0]?.n ?? 0;
      const [target = ''] = targets;

      for (const [user, { acknowledged }] of edits) {
        const profile = await send(target, '/sso/profile', { headers: cookieOf(user) });
        const { id, name } = JSON.parse(profile.text);
        // The last edit may have been made although its answer was lost.
        const present = Number(/^Edit (\d+)$/.exec(name)?.[1]);
        expectThat(
          present === acknowledged || present === acknowledged + 1,
          `user ${user} is "${name}" after ${acknowledged} acknowledged edits`,
        );
        const events = await count(
          sql`select count(*)::int n from audit_events where type = 'profile.updated' and user_id = ${id}`,
        );
        expectThat(events === present, `user ${user} has ${events} events of ${present} edits`);
      }

      await atOnce(signups, async ({ id, sent, answer }) => {
        const again = await send(target, '/integrations/crm/signups', sent);
        const isReplayed = again.headers.get('idempotent-replayed') === 'true';
        if (answer) expectThat(isReplayed && again.text === answer, `signup ${id} answers ${again.text}`);
      });
      const doubles = await sql<{ id: string }>`
        select signup_id id from service_contracts group by 1 having count(*) > 1
        union all select email from users group by 1 having count(*) > 1
        union all select external_id from external_links group by 1 having count(*) > 1
        union all select id::text from accounts where id not in (select account_id from users)`.execute(db);
      for (const { id } of doubles.rows) losses.push(`double, or half: ${id}`);
      const contracts = await count(
        sql`select count(*)::int n from service_contracts where signup_id like 'failover%'`,
      );
      expectThat(contracts === signups.length, `${contracts} contracts of ${signups.length} signups`);

      await atOnce(handOffs, async ({ id, path, isAcknowledged }) => {
        const [first, second] = [await send(target, path), await send(target, path)];
        if (isAcknowledged) expectThat(first.status === 409, `used hand-off ${id}: ${first.status}`);
        expectThat([303, 409].includes(first.status), `hand-off ${id}: ${first.status} ${first.text}`);
        expectThat(second.status === 409, `hand-off ${id} again: ${second.status}`);
      });
      const links = await count(
        sql`select count(*)::int n from external_links where external_id like 'failover%'`,
      );
      expectThat(links === handOffs.length, `${links} links of ${handOffs.length} hand-offs`);

      await atOnce(loggedOut, async (user) => {
        const { status } = await send(target, '/sso/profile', { headers: cookieOf(user) });
        expectThat(status === 401, `user ${user} is logged in after a logout: ${status}`);
      });
      return losses;
    },
  };
}
