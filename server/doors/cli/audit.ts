// Prints the audit (contract 11.54).
import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { type AuditRow, listAuditEvents } from '../../../db/tables/audit-events.ts';
import { listNames } from '../../../db/tables/staff-views.ts';
import { print } from '../../runtime/process.ts';
import { eventsOfClient } from '../../staff/audit.ts';
import {
  readUpTo,
  readUserKey,
  requireUser,
  show,
  type UserKey,
  withDatabase,
  writeJson,
} from './command.ts';

type Options = {
  kind?: string;
  person?: UserKey;
  staff?: UserKey;
  client?: string;
  limit: number;
  json: boolean;
};

export function addAuditCommand(program: Command): void {
  program
    .command('audit')
    .description('print what happened, to whom, by whom and why, newest last')
    .option('--kind <type>', 'such as staff.remove_factors')
    .option('--person <email>', 'or the id, also of someone who has been erased', readUserKey)
    .option('--staff <email>', 'or the id: what this member of the staff did', readUserKey)
    .option('--client <name>', 'such as marketplace')
    .option('--limit <number>', 'how many of the newest', readUpTo(10_000), 50)
    .option('--json', 'for programs: one JSON object a line', false)
    .action(({ person, staff, client, json, ...options }: Options) =>
      withDatabase(async (db) => {
        const filter = {
          ...options,
          person: await findId(db, person),
          staff: await findId(db, staff),
          ...eventsOfClient(client),
          isWithoutStaff: false,
        };
        const events = (await listAuditEvents(db, filter)).reverse();
        const ids = events.flatMap(({ userId, actorId }) => [userId, actorId]).filter((id) => id !== null);
        const people = json ? [] : await listNames(db, [...new Set(ids)]);
        if (events.length === 0 && !json) print('No such event is kept.');
        for (const event of events) print(json ? writeJson(event) : describeEvent(event, people));
      }),
    );
}

async function findId(db: Database, key: UserKey | undefined): Promise<string | undefined> {
  if (!key || 'id' in key) return key?.id;
  return (await requireUser(db, key)).id;
}

type Event = Omit<AuditRow, 'address'> & { address?: string | null | undefined };

/** `people` does not contain erased people. */
export function describeEvent(event: Event, people: { id: string; email: string }[]): string {
  const nameOf = (id: string) => people.find((each) => each.id === id)?.email ?? id;
  const { at, type, reason, userId, actorId, why, details, address, device, place } = event;
  const rest = Object.entries(details).map(
    ([name, value]) => [name, typeof value === 'string' ? value : JSON.stringify(value)] as const,
  );
  const facts = [
    ['of', userId && nameOf(userId)],
    ['by staff', actorId && nameOf(actorId)],
    ['reason', reason],
    ['why', why && JSON.stringify(why)],
    ...rest,
    ['from', [address, place, device].filter(Boolean).join(', ')],
  ]
    .filter(([, value]) => value)
    .map((fact) => fact.join(' '));
  return show([`${at.toISOString()}  ${type}`, ...facts].join('  '));
}
