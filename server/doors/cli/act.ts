// Acts on somebody by a command: what staff do on a person's page (contract 12.37), by the same functions. Each such command is
// added by `addAct`, and its options by `addOperator` and `addReason`.
import { type Argument, type Command, Option } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction, type Origin } from '../../../db/postgres/transactions.ts';
import { deferAuditEvent, recordAuditEvent } from '../../../db/tables/audit-events.ts';
import { findUserById, type User } from '../../../db/tables/users.ts';
import { type AnyAct, actAsOperator, type Given } from '../../acts/act.ts';
import { AppError } from '../../basics/errors.ts';
import { endsWithPerson } from '../../billing/customers/ends-with-person.ts';
import { environment, print, systemUser } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { peopleActs } from '../../staff/people-acts.ts';
import {
  CommandError,
  describeRefusal,
  findUser,
  noSuchUser,
  now,
  readName,
  readUserKey,
  readWhy,
  requireAnswerable,
  requireYes,
  show,
  type UserKey,
  withDatabase,
  writeJson,
} from './command.ts';

/** Who the operator says they are. */
export type Operator = { by?: string; json: boolean };
export type Reason = Operator & { why?: string };

export const addOperator = (command: Command): Command =>
  command
    .option('--by <name>', "who you are, for the audit (default: the system's user)", readName)
    .option('--json', 'for programs: one JSON object a line', false);

/** The options of every command that changes something about somebody. */
export function addReason(command: Command, { isRequired }: { isRequired: boolean }): Command {
  const why = new Option('--why <text>', 'kept in the audit').argParser(readWhy);
  return addOperator(command.addOption(why.makeOptionMandatory(isRequired)));
}

export const originOf = (command: string, { why }: { why?: string }): Origin => ({
  by: 'operator',
  cause: command,
  ...(why !== undefined && { why }),
});

export const operatorDeps = () => ({ now, endsWithPerson, config: readConfig(environment) });

export function authorOf({ by, why }: { by?: string; why?: string }) {
  const user = systemUser();
  return { by: 'operator', name: by ?? user, systemUser: user, why } as const;
}

/** What the audit keeps of an operator who does something with money (contract 7.161). */
export function booksTrailOf(reason: { by?: string; why?: string }) {
  const { name: operator, systemUser: user, why } = authorOf(reason);
  return { ...(why !== undefined && { why }), details: { by: 'cli' as const, operator, systemUser: user } };
}

/** What the audit keeps of an act by command, or of a look (contract 12.44 and 12.45). */
function buildEvent(type: string, userId: string | undefined, reason: { by?: string; why?: string }) {
  return { type, userId, ...booksTrailOf(reason) };
}

/** Records that an operator has looked at somebody, or searched. */
export async function recordLook(
  db: Database,
  { by }: Operator,
  look: { type: 'staff.looked'; userId: string } | { type: 'staff.searched'; hits: number },
): Promise<void> {
  const event = buildEvent(look.type, 'userId' in look ? look.userId : undefined, { by });
  await recordAuditEvent(db, {
    ...event,
    details: { ...event.details, ...('hits' in look && { hits: look.hits }) },
  });
}

/** Records an act that is none of server/staff/acts.ts, beside what else there is to record. */
export const deferActEvent = (
  trx: Parameters<typeof deferAuditEvent>[0],
  type: 'staff.create' | 'staff.erase',
  userId: string,
  reason: { by?: string; why?: string },
): void => deferAuditEvent(trx, buildEvent(type, userId, reason));

export type AskedByCommand = {
  command: string;
  key: UserKey;
  intent: keyof typeof peopleActs;
  given?: Given;
  reason: { by?: string; why?: string };
};

/** Does it, and returns whether there was anything to do, with the person as they were before. */
export async function actByCommand(
  db: Database,
  { command, key, intent, given = {}, reason }: AskedByCommand,
): Promise<{ done: 'done' | 'nothing'; user: User }> {
  const deps = operatorDeps();
  return inTransaction(db, originOf(command, reason), async (trx) => {
    const user = await findUser(trx, key);
    if (!user) throw noSuchUser();
    const asked = { given: { ...given, id: user.id }, author: authorOf(reason) };
    const result = await actAsOperator(trx, deps, peopleActs[intent] as AnyAct, asked);
    return { done: result === undefined ? 'nothing' : 'done', user };
  });
}

/** What an act has done, for programs (contract 12.43). */
export const toJson = (intent: string, done: boolean, id: string, more: Record<string, unknown> = {}) =>
  writeJson({ done, intent, id, ...more });

/** Names somebody in a question. */
export const nameUser = ({ name, email }: User) => `${show(name)} <${show(email)}>`;

type Outcome = { user: User; given: Given };

type ActCommand = {
  name: string;
  intent: keyof typeof peopleActs;
  description: string;
  isWhyRequired?: boolean;
  /** What is given beside the person, as an argument or an option. */
  takes?: { argument: Argument; as: keyof Given } | { option: Option; as: keyof Given };
  /** An option without a value, and what is given with it and without. */
  flag?: { option: Option; as: keyof Given; given: [on: string, off: string] };
  /** For what cannot be undone: a question that names the person. */
  question?: (user: User, given: Given) => string;
  /** What was done. `user` is the person as they are now. */
  say: (outcome: Outcome) => string;
  /** What is said where there was nothing to change. Throws where that is a refusal. */
  nothing: (outcome: Outcome) => string;
  /** What programs get beside that. */
  more?: (user: User) => Record<string, unknown>;
  /** The refusal `not_allowed` in words. */
  notAllowed?: string;
};

/** For an act that is refused where there is nothing to change. */
export const refuse = (sentence: string) => (): never => {
  throw new CommandError(sentence);
};

export function addAct(program: Command, act: ActCommand): void {
  const { name, takes, flag, question } = act;
  const command = program
    .command(name)
    .description(act.description)
    .argument('<email>', 'an address that they hold, or their id', readUserKey);
  if (takes && 'argument' in takes) command.addArgument(takes.argument);
  if (takes && 'option' in takes) command.addOption(takes.option);
  if (flag) command.addOption(flag.option);
  if (question) command.option('--yes', 'do not ask', false);
  addReason(command, { isRequired: act.isWhyRequired ?? true });
  command.action(async (key: UserKey, ...rest: unknown[]) => {
    const argument = takes && 'argument' in takes ? [rest.shift()] : [];
    const options = rest[0] as Reason & { yes: boolean } & Record<string, string>;
    const [value] = takes && 'option' in takes ? [options[takes.option.attributeName()]] : argument;
    const [on, off] = flag?.given ?? [];
    const given: Given = {
      ...(takes && { [takes.as]: value }),
      ...(flag && { [flag.as]: options[flag.option.attributeName()] ? on : off }),
    } as Given;
    if (question) requireAnswerable(options);
    print(await withDatabase((db) => perform(db, act, { key, given, options })));
  });
}

async function perform(
  db: Database,
  act: ActCommand,
  { key, given, options }: { key: UserKey; given: Given; options: Reason & { yes: boolean } },
): Promise<string> {
  const { name: command, intent, question, notAllowed } = act;
  const user = await findUser(db, key);
  if (!user) throw noSuchUser();
  if (question) await requireYes(options, question(user, given));
  const asked = { command, key: { id: user.id }, intent, given, reason: options };
  const { done } = await actByCommand(db, asked).catch((error) => {
    if (!(error instanceof AppError)) throw error;
    const isOurs = error.code === 'not_allowed' && notAllowed !== undefined;
    throw new CommandError(isOurs ? notAllowed : describeRefusal(error));
  });
  const isDone = done === 'done';
  const present = (await findUserById(db, user.id)) ?? user;
  const outcome = { user: present, given };
  const said = isDone ? act.say(outcome) : act.nothing(outcome);
  return options.json ? toJson(intent, isDone, user.id, act.more?.(present)) : said;
}
