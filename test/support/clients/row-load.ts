// Clients in the database that an administrator adds, rotates and turns off, while people launch them on every instance.
// Instances may die at any moment. The load remembers which acts were acknowledged, and the outcome of each launch.
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'vitest';
import { sign } from '../../../server/sso/hmac.ts';

const callback = 'http://localhost:4000/cb';
const why = 'A client under load';

type Secret = { secret: string; endedAt?: number };
type Known = {
  name: string;
  /** When an act was acknowledged, by the clock of this process. */
  addedAt: number;
  /** When somebody asked to turn the client off, and when the service acknowledged this. */
  asksOffAt?: number;
  offAt?: number;
  secrets: Secret[];
  /** An answer with a secret was lost, so the client may have signed with a secret that nobody knows. */
  hasLost: boolean;
};
type Launch = { name: string; port: number; from: number; to: number; outcome: 'payload' | string };
type Signed = Launch & { payload: string; signature: string; next: string | null };

type Row = { state: string; seen: string; secrets: unknown[] };

export type RowLoad = {
  known: Known[];
  /** Adds a client, rotates it, ends its first secret and turns it off, with launches in between. */
  live: () => Promise<void>;
  /** Call it when the database answers again. Instances have two seconds from then on. */
  noteDatabaseBack: () => void;
  stop: () => Promise<void>;
  /** Returns what contradicts the acknowledged acts. Each instance has `withinMs` to follow an act. */
  findFaults: (withinMs: number) => Promise<string[]>;
  /**
   * How long after the acknowledged end of a client its last launch still got a payload: the longest such time of all clients.
   */
  longestStopMs: () => number;
  countLaunches: () => Record<string, number>;
  /**
   * Turns on the clients that were turned off. Returns the names of the clients whose launch is not signed with exactly their
   * last secret.
   */
  findLost: () => Promise<string[]>;
};

/** The instances at `ports` follow rows. The instance at `portBefore` is of the version before, which knows no rows. */
export async function startRowLoad(
  base: string,
  { ports, portBefore }: { ports: number[]; portBefore: number },
): Promise<RowLoad> {
  const known: Known[] = [];
  const launches: (Launch | Signed)[] = [];
  const databaseBack: number[] = [];
  let isOver = false;
  let serial = 0;

  const send = async (
    port: number,
    path: string,
    init: { cookie?: string; body?: BodyInit; type?: string } = {},
  ) => {
    const { cookie, body, type } = init;
    const answer = await fetch(`http://localhost:${port}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      body,
      headers: { origin: base, ...(cookie && { cookie }), ...(type && { 'content-type': type }) },
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
    });
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  };
  const anyPort = () => ports[Math.floor(Math.random() * ports.length)] as number;
  // The administrator stays at one instance as long as it answers, because an instance reads the clients anew when staff list them.
  // The other instances have to follow by themselves.
  let place = 0;
  const staffPort = () => ports[place % ports.length] as number;
  const logIn = async (email: string) => {
    const body = new URLSearchParams({ email, password: 'local demo password' });
    const { headers } = await send(anyPort(), '/login', { body });
    return headers
      .getSetCookie()
      .map((each) => each.split(';')[0])
      .join('; ');
  };
  const [admin, customer] = [await logIn('admin@example.test'), await logIn('customer@example.test')];

  /** Returns undefined if no answer came, or if the answer says that the service is busy. */
  async function call<Data>(
    name: string,
    input?: Record<string, string>,
  ): Promise<Data | string | undefined> {
    const answer = await (input === undefined
      ? send(staffPort(), `/trpc/admin.${name}?input=${encodeURIComponent('{}')}`, { cookie: admin })
      : send(staffPort(), `/trpc/admin.${name}`, {
          ...{ cookie: admin, body: JSON.stringify({ json: input }), type: 'application/json' },
        })
    ).catch(() => undefined);
    if (!answer || answer.status >= 500) {
      place++;
      return undefined;
    }
    const { result, error } = JSON.parse(answer.text);
    return result ? (result.data.json as Data) : String(error.json.data.problem);
  }
  async function findRow(name: string): Promise<Row> {
    for (;;) {
      const list = await call<{ name: string; row: Row | null }[]>('clients.list');
      if (typeof list === 'string') throw new Error(`clients.list: ${list}`);
      const row = list?.find((each) => each.name === name)?.row;
      if (list && !row) throw new Error(`${name} is lost`);
      if (row) return row;
      await sleep(100);
    }
  }
  /** Tries an act until an instance has acknowledged it, or until it turns out that an earlier try has done it. */
  async function act<Data>(
    name: string,
    client: string,
    more: Record<string, string>,
    isDone: (row: Row) => boolean,
  ): Promise<Data | undefined> {
    for (;;) {
      const row = await findRow(client);
      if (isDone(row)) return undefined;
      const data = await call<Data>(`clients.${name}`, { client, why, seen: row.seen, ...more });
      if (data !== undefined && typeof data !== 'string') return data;
      // `edited_meanwhile` means that a try whose answer was lost has changed the row.
      if (typeof data === 'string' && data !== 'edited_meanwhile') throw new Error(`${name}: ${data}`);
      await sleep(100);
    }
  }

  async function add(): Promise<Known> {
    for (;;) {
      const name = `load_${++serial}`;
      const data = await call<{ secret: string }>('clients.add', { client: name, callback, why });
      if (typeof data === 'string') throw new Error(`add: ${data}`);
      if (!data) continue;
      const client = { name, addedAt: performance.now(), secrets: [{ secret: data.secret }], hasLost: false };
      known.push(client);
      return client;
    }
  }

  async function rotate(client: Known): Promise<void> {
    const has = (count: number) => (row: Row) => row.secrets.length === count;
    for (;;) {
      const data = await act<{ secret: string }>('rotate', client.name, {}, has(2));
      if (data) {
        client.secrets.push({ secret: data.secret });
        return;
      }
      // The answer with the secret was lost.
      client.hasLost = true;
      await act('endSecret', client.name, { which: 'second' }, has(1));
    }
  }

  async function launch(port: number, name: string): Promise<void> {
    const from = performance.now();
    const answer = await send(port, `/sso/launch/${name}`, { cookie: customer }).catch(() => undefined);
    if (!answer) return;
    const told = { name, port, from, to: performance.now() };
    if (answer.status !== 303) {
      launches.push({ ...told, outcome: String(JSON.parse(answer.text).code) });
      return;
    }
    const { searchParams: found, pathname } = new URL(answer.headers.get('location') ?? '', base);
    const [payload, signature] = [found.get('payload'), found.get('signature')];
    if (payload === null || signature === null) launches.push({ ...told, outcome: pathname });
    else
      launches.push({ ...told, outcome: 'payload', payload, signature, next: found.get('signature_next') });
  }
  const people = [...ports, portBefore].flatMap((port) =>
    Array.from({ length: 2 }, async () => {
      while (!isOver) {
        const names = known.flatMap(({ name, offAt }) =>
          offAt === undefined || performance.now() - offAt < 6_000 ? [name] : [],
        );
        await launch(port, names[Math.floor(Math.random() * names.length)] ?? 'marketplace');
        if (Math.random() < 0.1) await launch(port, 'marketplace');
        await sleep(30 + Math.random() * 60);
      }
    }),
  );
  const watch = () => sleep(1_500 + Math.random() * 1_500);

  const since = (at: number) => Math.max(at, ...databaseBack.filter((back) => back > at));

  return {
    known,
    async live() {
      const client = await add();
      await watch();
      await rotate(client);
      await watch();
      await act('endSecret', client.name, { which: 'first' }, ({ secrets }) => secrets.length === 1);
      Object.assign(client.secrets[0] as Secret, { endedAt: performance.now() });
      await watch();
      client.asksOffAt = performance.now();
      await act('turnOff', client.name, {}, ({ state }) => state === 'off');
      client.offAt = performance.now();
      await sleep(4_000);
    },
    noteDatabaseBack: () => databaseBack.push(performance.now()),
    async stop() {
      isOver = true;
      await Promise.all(people);
    },
    async findFaults(withinMs) {
      const faults: string[] = [];
      for (const each of launches) {
        const { name, port, from, to, outcome } = each;
        const say = (fault: string) =>
          faults.push(`${name} at ${port === portBefore ? 'the version before' : port}: ${fault}`);
        // An instance, or the database, was just killed.
        if (outcome === 'unavailable') continue;
        const client = known.find((one) => one.name === name);
        if (!client) {
          if (outcome !== 'payload') say(outcome);
        } else if (port === portBefore) {
          if (outcome !== 'unknown_client') say(outcome);
        } else if (outcome === 'payload') {
          if (client.offAt !== undefined && from > since(client.offAt) + withinMs)
            say(`launched ${Math.round(from - client.offAt)} ms after it was off`);
          const { payload, signature, next } = each as Signed;
          const made = await Promise.all(client.secrets.map(({ secret }) => sign(secret, payload)));
          const used = client.secrets[made.indexOf(signature)];
          if (used?.endedAt !== undefined && from > since(used.endedAt) + withinMs)
            say(`signed ${Math.round(from - used.endedAt)} ms after its secret ended`);
          if (!client.hasLost && (!used || (next !== null && !made.includes(next))))
            say('signed with a strange secret');
        } else if (outcome !== 'unknown_client') say(outcome);
        else if (
          from > since(client.addedAt) + withinMs &&
          to < (client.asksOffAt ?? Number.POSITIVE_INFINITY)
        )
          say(`unknown ${Math.round(from - client.addedAt)} ms after it was added`);
      }
      return faults;
    },
    longestStopMs: () =>
      Math.max(
        ...launches.map(({ name, from, outcome }) => {
          const { offAt } = known.find((one) => one.name === name) ?? {};
          return outcome === 'payload' && offAt !== undefined ? Math.round(from - since(offAt)) : 0;
        }),
      ),
    countLaunches: () => {
      const counts: Record<string, number> = {};
      for (const { outcome, port } of launches) {
        const kind = `${outcome}${port === portBefore ? ' before' : ''}`;
        counts[kind] = (counts[kind] ?? 0) + 1;
      }
      return counts;
    },
    async findLost() {
      const lost: string[] = [];
      for (const { name, secrets } of known) {
        expect((await findRow(name)).state).toBe('off');
        await act('turnOn', name, {}, ({ state }) => state === 'on');
        let found = new URLSearchParams();
        const isLaunched = async () => {
          const { headers } = await send(anyPort(), `/sso/launch/${name}`, { cookie: customer });
          found = new URL(headers.get('location') ?? base, base).searchParams;
          return found.has('payload');
        };
        await expect.poll(isLaunched, { timeout: 8_000 }).toBe(true);
        const wanted = await sign(secrets.at(-1)?.secret ?? 'none', found.get('payload') ?? '');
        if (found.get('signature') !== wanted || found.has('signature_next')) lost.push(name);
      }
      return lost;
    },
  };
}
