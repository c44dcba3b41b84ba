// People, systems and operators who change things at random, many at the same time, while the service and its database may die.
import { sql } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { endsWithPerson } from '../../../server/billing/customers/ends-with-person.ts';
import { eraseUser } from '../../../server/identity/person/erase-user.ts';
import type { Config } from '../../../server/settings/config.ts';
import { buildSignup, signMessage } from '../crm/crm.ts';
import type { Ask } from './event-client.ts';
import { addPerson, deletePerson, openSession, type Person } from './events.ts';

type Member = Person & { cookie: string };

const people = 24;
const pauseMs = 30;

type Writers = {
  /** The answers that were wrong. */
  faults: string[];
  /** How often each way of changing something was used. */
  done: Map<string, number>;
  stop: () => Promise<void>;
};

export function startWriters({
  db,
  asks,
  config,
  random,
  writers = 16,
}: {
  db: Database;
  asks: Ask[];
  config: Pick<Config, 'clients' | 'crmSignupsSecrets' | 'baseUrl'>;
  random: () => number;
  writers?: number;
}): Writers {
  const faults: string[] = [];
  const done = new Map<string, number>();
  const members: Member[] = [];
  let serial = 0;
  let isOver = false;
  const clients = [...config.clients.keys()];

  const pick = <T>(all: T[]): T => all[Math.floor(random() * all.length)] as T;
  const someName = () => `Name ${++serial}`;

  const ask: Ask = async (path, init) => {
    const answer = await pick(asks)(path, {
      ...init,
      headers: { origin: config.baseUrl, ...init?.headers },
    });
    if (answer && answer.status >= 500 && answer.status !== 503)
      faults.push(`${path} is answered ${answer.status}`);
    return answer;
  };
  const join = async () => {
    const person = await addPerson(db);
    members.push({ ...person, cookie: await openSession(db, person) });
  };
  const leave = (member: Member) => members.splice(members.indexOf(member), 1);
  const set = (what: ReturnType<typeof sql>, { id }: Person, on = db) =>
    sql`update users set ${what} where id = ${id}`.execute(on);

  const doors: Record<string, (member: Member) => Promise<unknown>> = {
    launch: ({ cookie }) => ask(`/sso/launch/${pick(clients)}`, { headers: { cookie } }),
    'launch again': ({ cookie }) => ask(`/sso/launch/${pick(clients)}`, { headers: { cookie } }),
    edit: ({ cookie }) =>
      ask('/trpc/profile.update', {
        method: 'POST',
        headers: { cookie, 'content-type': 'application/json' },
        body: JSON.stringify({ json: { name: someName(), accountName: someName() } }),
      }),
    'log out': async (member) => {
      await ask('/logout', { method: 'POST', headers: { cookie: member.cookie } });
      member.cookie = await openSession(db, member);
    },
    'edit by SQL': (member) => set(sql`name = ${someName()}`, member),
    'edit the account by SQL': ({ accountId }) =>
      sql`update accounts set capabilities = ${pick(['{}', '{sell_services}', '{manage_storefront}'])}
        where id = ${accountId}`.execute(db),
    'suspend or restore by SQL': async (member) => {
      await set(sql`suspended_at = case when suspended_at is null then now() end`, member);
      // If the user is suspended now, the service refuses this session until the suspension ends.
      member.cookie = await openSession(db, member);
    },
    'change two people slowly, and perhaps not': async (member) => {
      const other = pick(members);
      const [one, two] = [member, other].sort((a, b) => (a.id < b.id ? -1 : 1)) as [Member, Member];
      await db.transaction().execute(async (trx) => {
        await set(sql`name = ${someName()}`, one, trx);
        await new Promise((over) => setTimeout(over, random() * 100));
        await set(sql`name = ${someName()}`, two, trx);
        if (random() < 0.3) throw new Error('not after all');
      });
    },
    'sign up': async (member) => {
      const id = `signup-${member.id}-${pick(['a', 'b'])}`;
      const contract = { plan: pick(['starter', 'pro']), status: 'active' };
      const user = { email: member.email, name: 'x' };
      const body = JSON.stringify(buildSignup(id, { user, contract, occurred_at: new Date().toISOString() }));
      const headers = signMessage(config.crmSignupsSecrets?.[0] ?? '', body);
      await ask('/integrations/crm/signups', { method: 'POST', headers, body });
    },
    erase: async (member) => {
      if (random() < 0.6) return;
      leave(member);
      await inTransaction(db, { by: 'operator' }, (trx) =>
        eraseUser(trx, { now: () => new Date(), endsWithPerson }, member.id, { by: 'cli', onlyDue: false }),
      );
    },
    'delete by SQL': async (member) => {
      if (random() < 0.6) return;
      leave(member);
      await deletePerson(db, member);
    },
  };

  const write = async () => {
    while (!isOver) {
      const door = pick(Object.keys(doors));
      try {
        if (members.length < people) await join();
        await doors[door]?.(pick(members));
        done.set(door, (done.get(door) ?? 0) + 1);
      } catch {
        // The database was away, or there was a deadlock, as can happen to anybody who types SQL.
      }
      await new Promise((over) => setTimeout(over, random() * pauseMs));
    }
  };
  const underWay = Array.from({ length: writers }, write);
  return {
    faults,
    done,
    async stop() {
      isOver = true;
      await Promise.all(underWay);
    },
  };
}
