import { type Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { type Change, listChangesOfUser, type Value } from '../../../db/tables/changes.ts';
import { instantSchema } from '../../basics/instant.ts';
import { findPastProfile, type PastProfile, toChangeTime } from '../../identity/history/history.ts';
import { print } from '../../runtime/process.ts';
import {
  CommandError,
  findUser,
  noSuchUser,
  readUserKey,
  show,
  type UserKey,
  withDatabase,
  writeJson,
} from './command.ts';

type Options = { at?: string; json: boolean };

export function addHistoryCommand(program: Command): void {
  program
    .command('history')
    .description('print what changed about a user, who changed it and why, newest last')
    .argument('<email>', 'or the id, also of someone who has been erased', readUserKey)
    .option('--at <time>', 'print the profile as it was then instead, such as 2026-01-31T12:00:00Z', readTime)
    .option('--json', 'one JSON object a line', false)
    .action((key: UserKey, { at, json }: Options) =>
      withDatabase(async (db) => {
        const person = await findPerson(db, key);
        if (at === undefined) return printChanges(await listChangesOfUser(db, person), json);
        const past = await findPastProfile(db, person.userId, at);
        if (!past) throw new CommandError('We know nothing about this user at that time.');
        print(json ? writeJson(past) : describeProfile(past));
      }),
    );
}

function readTime(text: string): string {
  if (!instantSchema.safeParse(text).success)
    throw new InvalidArgumentError('Enter an RFC 3339 time with a time zone, such as 2026-01-31T12:00:00Z.');
  return toChangeTime(text);
}

async function findPerson(db: Database, key: UserKey) {
  const user = await findUser(db, key);
  if (user) return { userId: user.id, accountId: user.account.id };
  const isKnown =
    'id' in key && (await listChangesOfUser(db, { userId: key.id, accountId: null })).length > 0;
  if (!isKnown) throw noSuchUser();
  return { userId: key.id, accountId: null };
}

function printChanges(changes: Change[], json: boolean): void {
  if (changes.length === 0 && !json) print('Nothing has changed since the history began.');
  for (const change of changes) print(json ? writeJson(change) : describeChange(change));
}

export const say = (value: Value) => (value === null ? 'none' : show(JSON.stringify(value)));

export function describeChange(change: Change): string {
  const { at, subject, rowId, kind, members } = change;
  const what = members
    ? Object.entries(members).map(([name, { from, to }]) =>
        kind === 'changed' ? `${name} ${say(from)} → ${say(to)}` : `${name} ${say(to ?? from)}`,
      )
    : ['what it was is erased'];
  return `${at}  ${subject} ${show(rowId ?? '')} ${kind}${describeAuthor(change)}: ${what.join(', ')}`;
}

const authors = {
  person: 'the person',
  marketplace: 'the marketplace',
  crm: 'the CRM',
  payments: 'a payment',
  operator: 'an operator',
  staff: 'staff',
  service: 'the service',
  database: 'SQL',
};

function describeAuthor({ by, byUser, actorId, why: said, cause, requestId, role }: Change): string {
  if (by === null) return ' as the history began';
  const why = [
    byUser && `user ${byUser}`,
    actorId && `user ${actorId}`,
    said && `why ${say(said)}`,
    cause && `cause ${say(cause)}`,
    requestId && `request ${say(requestId)}`,
    `role ${say(role)}`,
  ];
  return ` by ${authors[by]} (${why.filter(Boolean).join(', ')})`;
}

function describeProfile({ at, profile, account, ...more }: PastProfile): string {
  const { account: active, ...standard } = profile;
  const rows = {
    at,
    ...standard,
    'capabilities in force': active.capabilities,
    ...more,
    'account id': account.id,
    'account name': account.name,
    'capabilities granted': account.capabilities,
    'account verified': account.verified_at,
  };
  return Object.entries(rows)
    .map(([name, value]) => `${name.replaceAll('_', ' ')}: ${say(value as Value)}`)
    .join('\n');
}
