// Builds the commands for acts (contract 12.37), each from its record in server/staff/acts.ts. Has helpers for all other
// commands, too.
import { Argument, type Command, Option } from 'commander';
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction, type Origin } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { type AuditEvent, recordAuditEvent } from '../../../db/tables/audit-events.ts';
import { findContract } from '../../../db/tables/service-contracts.ts';
import { type AnyAct, actAsOperator, type Subject, trailsOf } from '../../acts/act.ts';
import { type Given, readFields } from '../../acts/fields.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { isUuid } from '../../basics/uuid.ts';
import { endsWithPerson } from '../../billing/customers/ends-with-person.ts';
import { numberSchema, paymentIdSchema } from '../../billing/payments/payment-message.ts';
import { environment, isTerminal, print, printAside, systemUser } from '../../runtime/process.ts';
import { type Config, readConfig } from '../../settings/config.ts';
import { actWords, furtherCommands } from '../../staff/act-words.ts';
import { actsByCommand } from '../../staff/acts.ts';
import type { CommandWords } from '../../staff/form-words.ts';
import {
  CommandError,
  describeRefusal,
  findUser,
  noSuchUser,
  now,
  readIf,
  readName,
  readUserKey,
  readWhy,
  requireAnswerable,
  requireYes,
  show,
  UsageError,
  type UserKey,
  userKeyWords,
  withDatabase,
  writeJson,
} from './command.ts';

/** `by` is the operator's name, as they gave it. */
export type Operator = { by?: string; json: boolean };
export type Reason = Operator & { why?: string };

export const addOperator = (command: Command): Command =>
  command
    .option('--by <name>', "who you are, for the audit (default: the system's user)", readName)
    .option('--json', 'for programs: one JSON object a line', false);

/** Returns the options of every command that changes something. */
export function addReason(command: Command, { isRequired }: { isRequired: boolean }): Command {
  const why = new Option('--why <text>', 'kept in the audit').argParser(readWhy);
  return addOperator(command.addOption(why.makeOptionMandatory(isRequired)));
}

export const originOf = (command: string, { why }: { why?: string }): Origin => ({
  by: 'operator',
  cause: command,
  ...(why !== undefined && { why }),
});

function authorOf({ by, why }: { by?: string; why?: string }) {
  const user = systemUser();
  return { by: 'operator', name: by ?? user, systemUser: user, why } as const;
}

/** Returns what the audit keeps about an operator (contract 7.161 and 12.44). */
export const booksTrailOf = (reason: { by?: string; why?: string }) => trailsOf(authorOf(reason)).whole;

/** Returns what a command about several clients needs. */
export const contextOf = (trx: Transaction<DB>, config: Config, reason: Reason) => ({
  ...{ trx, deps: { config, now }, author: authorOf(reason) },
  by: { now: now(), recordedBy: 'operator' as const, trail: booksTrailOf(reason) },
});

export function recordLook(
  db: Database,
  { by }: Operator,
  { hits, ...look }: Pick<AuditEvent, 'userId'> & { type: 'staff.looked' | 'staff.searched'; hits?: number },
): Promise<void> {
  const { details, ...trail } = booksTrailOf({ by });
  return recordAuditEvent(db, {
    ...trail,
    ...look,
    details: { ...details, ...(hits !== undefined && { hits }) },
  });
}

const depsOf = () => ({ now, endsWithPerson, config: readConfig(environment) });

/** Returns what the act returns, which is undefined if there was nothing to do. */
export const actByCommand = (
  db: Database,
  command: string,
  { act, given, reason }: { act: AnyAct; given: Given; reason: { by?: string; why?: string } },
): Promise<unknown> =>
  inTransaction(db, originOf(command, reason), (trx) =>
    actAsOperator(trx, depsOf(), act, { given, author: authorOf(reason) }),
  );

/** Returns what an act has done, as JSON (contract 12.43). */
export const toJson = (intent: string, done: boolean, id: string, more: Record<string, unknown> = {}) =>
  writeJson({ done, intent, id, ...more });

/** How a command names the person or thing that it is about. */
type Named = {
  argument: [name: string, about: string, read: (text: string) => unknown];
  /** Returns undefined if nothing has this key. */
  // biome-ignore lint/suspicious/noExplicitAny: the type is what `read` of the same argument returns
  toGiven: (db: Database, key: any) => Promise<Given | undefined>;
  missing: string;
};

const named: Record<Subject<unknown>['name'], Named> = {
  person: {
    argument: ['<email>', userKeyWords, readUserKey],
    async toGiven(db, key: UserKey) {
      const user = await findUser(db, key);
      return user && { id: user.id };
    },
    missing: noSuchUser().message,
  },
  invoice: {
    argument: [
      '<number>',
      'of the invoice',
      readIf((text) => numberSchema.safeParse(text).success, 'Enter the number of an invoice.'),
    ],
    toGiven: async (_db, number: string) => ({ number: numberSchema.parse(number) }),
    missing: 'There is no invoice with this number.',
  },
  payment: {
    argument: [
      '<id>',
      'of the payment',
      readIf(
        (text) => paymentIdSchema.safeParse(text).success || /^invoice#\d+$/.test(text),
        'Enter the id of a payment.',
      ),
    ],
    toGiven: async (_db, payment: string) => ({ payment }),
    missing: 'There is no payment with this id, or no invoice with this number.',
  },
  contract: {
    argument: ['<signup id>', "the CRM's id for it", (text) => text],
    async toGiven(db, signupId: string) {
      const contract = await findContract(db, { signupId });
      return contract && { contract: contract.id };
    },
    missing: 'There is no contract for this signup.',
  },
  mail: {
    argument: ['<id>', 'as `mails` lists it', readIf(isUuid, 'Enter the id of an email.')],
    toGiven: async (_db, id: string) => ({ id }),
    missing: 'No email with this id waits.',
  },
  newcomer: {
    argument: ['<email>', 'of somebody who has no account', (text) => text],
    toGiven: async (_db, email: string) => ({ email }),
    missing: '',
  },
  invitation: {
    argument: ['<id>', 'as `invitations` lists it', readIf(isUuid, 'Enter the id of an invitation.')],
    toGiven: async (_db, id: string) => ({ id }),
    missing: 'No invitation with this id is open.',
  },
  client: {
    argument: ['<name>', 'of a client in the database, as `clients` lists it', (text) => text],
    toGiven: async (_db, client: string) => ({ client }),
    missing: 'No client in the database has this name.',
  },
  new_client: {
    argument: ['<name>', 'of the new client: lower-case letters, digits and underscores', (text) => text],
    toGiven: async (_db, client: string) => ({ client }),
    missing: '',
  },
  settings: { argument: ['', '', String], toGiven: async () => ({}), missing: '' },
};

type Options = Reason & { yes: boolean } & Record<string, string | undefined>;
type Asked = { intent: string; act: AnyAct; words: CommandWords<unknown>; key: unknown; given: Given };

export function addActCommands(program: Command): void {
  for (const [intent, act] of actsByCommand) {
    const { name = '', takes = {}, asks, needsWhy } = act.command ?? {};
    const words = furtherCommands[name] ?? actWords[intent]?.command;
    if (!words) continue;
    const goes = words.goesFor && `${name} goes with version 1.2.0: use ${words.goesFor}`;
    const command = program.command(name).description(goes ? `${words.about} (${goes})` : words.about);
    command.argument(...named[act.about.name].argument);
    const fields = Object.entries(takes).map(([field, taken]) => {
      const about = words.takes?.[field as keyof Given] ?? '';
      const { choices } = act.fields[field] ?? {};
      if (typeof taken === 'string') {
        const argument = new Argument(taken, about);
        command.addArgument(choices ? argument.choices(choices) : argument);
        return { field };
      }
      const option = new Option(taken.option, about).makeOptionMandatory(taken.isRequired ?? false);
      if (taken.isRepeated) option.argParser((value, before: string[] = []) => [...before, value]);
      command.addOption(choices && !taken.values ? option.choices(choices) : option);
      return { field, option: option.attributeName(), values: taken.values };
    });
    if (asks) command.option('--yes', 'do not ask', false);
    if (act.hasNoWhy) addOperator(command);
    else addReason(command, { isRequired: needsWhy === true });
    command.action(async (key: unknown, ...rest: unknown[]) => {
      const options = rest[fields.filter(({ option }) => option === undefined).length] as Options;
      const given = Object.fromEntries(
        fields.flatMap(({ field, option, values }) => {
          const typed: unknown = option === undefined ? rest.shift() : options[option];
          // An empty value may come from a script with an unset variable. It is refused, because leaving the option out would
          // mean something else.
          if (option !== undefined && [typed].flat().includes(''))
            throw new UsageError(`--${field}: Enter a value, or leave it out.`);
          const value = values ? values[typed ? 0 : 1] : Array.isArray(typed) ? typed.join(' ') : typed;
          return value === undefined ? [] : [[field, value]];
        }),
      ) as Given;
      if (needsWhy === 'for options' && Object.keys(given).length > 0 && options.why === undefined)
        throw new UsageError('Give the reason with --why.');
      if (goes) printAside(`${goes}.`);
      if (asks === 'always') requireAnswerable(options);
      print(await withDatabase((db) => perform(db, { intent, act, words, key, given }, options)));
    });
  }
}

async function perform(
  db: Database,
  { intent, act, words, key, given: taken }: Asked,
  options: Options,
): Promise<string> {
  const { about, command, fields } = act;
  const { toGiven, missing } = named[about.name];
  const ofKey = await toGiven(db, key);
  const given = { ...taken, ...ofKey };
  const { config } = depsOf();
  const found = ofKey && (await about.find(db, given, config));
  if (!found?.thing) throw new CommandError(missing);
  // Refuses wrong usage before the command asks anything.
  await readFields(fields, given, { ...depsOf(), db, thing: found.thing }).catch(refuseField(act, words));
  if (words.asks) {
    const yes = options.yes || (command?.asks === 'on a terminal' && !isTerminal());
    await requireYes({ yes }, show(words.asks(found.thing, given)));
  }
  const result = await actByCommand(db, command?.name ?? '', { act, given, reason: options }).catch(
    (error) => {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'not_found') throw new CommandError(missing);
      if (error.code === 'not_allowed' && words.notAllowed) throw new CommandError(words.notAllowed);
      const isBare = about.isPerson || error.errors.length > 0;
      throw new CommandError(`${isBare ? '' : 'Nothing changed: '}${describeRefusal(error)}`);
    },
  );
  const present = (await about.find(db, given, config)) ?? found;
  const outcome = { given, result };
  const { done = result !== undefined, ...more } = command?.json?.(present.thing, outcome) ?? {};
  const said = show((done ? words.done : words.nothing)(present.thing, outcome));
  if (!done && command?.mustChange?.(present.thing)) throw new CommandError(said);
  const id = about.isPerson ? found.userId : key;
  return options.json ? writeJson({ done, intent, id, ...more }) : said;
}

/**
 * Throws a `UsageError` about the first wrong field. An unknown invoice number is not wrong usage, but a plain `CommandError`.
 */
const refuseField =
  ({ command }: AnyAct, { wrong }: CommandWords<unknown>) =>
  (error: unknown): never => {
    const [first] = error instanceof AppError ? error.errors : [];
    if (!first) throw error;
    if (first.detail === faultWords.invoice_unknown) throw new CommandError(named.payment.missing);
    const field = first.pointer.slice(1);
    const said = wrong?.[field as keyof Given];
    if (said) throw new UsageError(said);
    const taken = command?.takes?.[field];
    const [flag] = typeof taken === 'string' ? [taken] : (taken?.option.split(' ') ?? []);
    throw new UsageError(flag ? `${flag}: ${first.detail}` : first.detail);
  };
