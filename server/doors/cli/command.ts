import { InvalidArgumentError } from 'commander';
import { startEmbeddedPostgres } from '../../../db/embedded/server.ts';
import { isMigrated } from '../../../db/migration-status.ts';
import { type Database, openDatabase } from '../../../db/postgres/client.ts';
import { migrate } from '../../../db/postgres/migrate.ts';
import { findAddressOwner } from '../../../db/tables/address-owners.ts';
import { findUserById, type User } from '../../../db/tables/users.ts';
import { whySchema } from '../../acts/why.ts';
import type { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { nameSchema } from '../../basics/names.ts';
import { isUuid } from '../../basics/uuid.ts';
import { openBook } from '../../clients/book.ts';
import type { LiveClients } from '../../ground/dependencies.ts';
import { readEmailAddress } from '../../identity/ground/email-address.ts';
import { dataFolder } from '../../runtime/files.ts';
import { ask, environment, isTerminal, printAside } from '../../runtime/process.ts';
import { type Config, readConfig } from '../../settings/config.ts';

/** The message is a sentence for the operator. */
export class CommandError extends Error {}

/** The command was used wrongly. It exits with 2, and nothing was done. */
export class UsageError extends CommandError {}

export const now = () => new Date();

/**
 * Opens and migrates the database of the service, and closes it after `work`. A dry run changes nothing, so it does not
 * migrate.
 */
export async function withDatabase<T>(
  work: (db: Database) => Promise<T>,
  { statementTimeoutMs, isDryRun = false }: { statementTimeoutMs?: number; isDryRun?: boolean } = {},
): Promise<T> {
  return withDatabaseUrl(async (url, config) => {
    if (!isDryRun) await migrate(url, (what) => printAside(`Waiting for ${what}.`));
    const database = openDatabase({
      url,
      poolSize: 2,
      preparedStatements: config.databasePreparedStatements,
      statementTimeoutMs,
      onError: () => undefined,
    });
    const use = async () => {
      if (isDryRun && !(await isMigrated(database.db)))
        throw new CommandError(
          'The database does not have the current schema: run the command "migrate" first.',
        );
      return work(database.db);
    };
    return use().finally(database.close);
  });
}

/** Does not migrate. An embedded database runs only while `work` runs. */
export async function withDatabaseUrl<T>(work: (url: string, config: Config) => Promise<T>): Promise<T> {
  const config = readConfig(environment);
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres(config.embeddedDatabaseFolder ?? dataFolder);
  try {
    return await work(config.databaseUrl ?? embedded?.url ?? '', config);
  } finally {
    await embedded?.stop();
  }
}

export function readEmail(text: string): string {
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Enter a valid email address.');
  return email;
}

/** A command names a user by id or by email address (contract 12.41). */
export type UserKey = { id: string } | { email: string };

export const userKeyWords = 'an address that they hold or can have back, or their id';

export function readUserKey(text: string): UserKey {
  if (isUuid(text.toLowerCase())) return { id: text.toLowerCase() };
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Enter a valid email address, or the id of a user.');
  return { email };
}

export const noSuchUser = () => new CommandError('No user has this email address or id.');

/** Returns the clients of the settings and of the database, as the service knows them. */
export async function readClients(db: Database, config: Config): Promise<LiveClients> {
  const clients = openBook({ config, db, log: { info() {}, error() {}, record() {} }, now });
  await clients.refresh();
  return clients;
}

/** Describes a refusal in one line for an operator. */
export function describeRefusal({ code, detail, errors }: AppError): string {
  if (code === 'account_frozen') return 'This account is frozen. Use user:thaw instead.';
  if (code === 'last_admin')
    return 'This is the only administrator. Make someone else an administrator first: user:role, or user:create --role admin.';
  return errors[0]?.detail ?? detail;
}

export const findUser = (db: Database, key: UserKey): Promise<User | undefined> =>
  'id' in key ? findUserById(db, key.id) : findAddressOwner(db, key.email, now());

export async function requireUser(db: Database, key: UserKey): Promise<User> {
  const user = await findUser(db, key);
  if (!user) throw noSuchUser();
  return user;
}

export function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Enter a whole number.');
  return Number(text);
}

export const readUpTo = (most: number) => (text: string) => {
  const number = readNumber(text);
  if (number < 1 || number > most) throw new InvalidArgumentError(`Enter a number from 1 to ${most}.`);
  return number;
};

export const readIf = (isRight: (text: string) => boolean, sentence: string) => (text: string) => {
  if (!isRight(text)) throw new InvalidArgumentError(sentence);
  return text;
};

export function readWhy(text: string): string {
  const why = whySchema.safeParse(text);
  if (!why.success) throw new InvalidArgumentError(why.error.issues[0]?.message ?? faultWords.why_length);
  return why.data;
}

export function readName(text: string): string {
  const name = nameSchema.safeParse(text);
  if (!name.success) throw new InvalidArgumentError(name.error.issues[0]?.message ?? 'Enter a valid name.');
  return name.data;
}

/** Escapes characters that would move a terminal's cursor, or reverse its text (contract 12.46). */
export const show = (text: string) =>
  text.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);

/** Writes JSON on one line. Characters that `show` would escape become escapes of JSON. */
export const writeJson = (value: unknown) => escapeJson(JSON.stringify(value));

export const escapeJson = (json: string) =>
  json.replace(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) =>
    Array.from(
      { length: character.length },
      (_, at) => `\\u${character.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );

/** Call this for acts that cannot be undone (contract 12.38). Throws if nobody can be asked and there is no `--yes`. */
export function requireAnswerable({ yes }: { yes: boolean }): void {
  if (!yes && !isTerminal())
    throw new UsageError('This cannot be undone. Nobody can be asked here: give --yes to do it.');
}

/** Asks on the terminal unless there is `--yes`. Throws unless the answer is yes. */
export async function requireYes({ yes }: { yes: boolean }, question: string): Promise<void> {
  if (yes) return;
  if ((await ask(`${question} Type yes: `)).trim() !== 'yes') throw new CommandError('Nothing was done.');
}
