// Shared by the commands: the database, and reading options.
import { InvalidArgumentError } from 'commander';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { isMigrated } from '../../db/migration-status.ts';
import { type Database, openDatabase } from '../../db/postgres/client.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import type { Origin } from '../../db/postgres/transactions.ts';
import { findHolder, findUserById, type User } from '../../db/tables/users.ts';
import { readEmailAddress } from '../identity/ground/email-address.ts';
import { nameSchema } from '../identity/ground/names.ts';
import { dataFolder } from '../runtime/files.ts';
import { environment, printAside } from '../runtime/process.ts';
import { type Config, readConfig } from '../settings/config.ts';

/** An error with a message that is a sentence for the operator. */
export class CommandError extends Error {}

export const now = () => new Date();

export const byCommand = (command: string): Origin => ({ by: 'operator', cause: command });

type DatabaseUse = {
  /** As `openDatabase` takes it. */
  statementTimeoutMs?: number;
  /** For a command that must change nothing: the database is not migrated. */
  isDryRun?: boolean;
};

/** Migrates the database of the service, and closes it after `work`. */
export async function withDatabase<T>(
  work: (db: Database) => Promise<T>,
  { statementTimeoutMs, isDryRun = false }: DatabaseUse = {},
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
      if (isDryRun) await requireMigrated(database.db);
      return work(database.db);
    };
    return use().finally(database.close);
  });
}

/** The database of the service as it is: the embedded one runs while `work` does. */
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

async function requireMigrated(db: Database): Promise<void> {
  if (!(await isMigrated(db)))
    throw new CommandError('The database does not have the current schema: run the command "migrate" first.');
}

export function readEmail(text: string): string {
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Enter a valid email address.');
  return email;
}

/** What names a user: the address that they hold, or their id. */
export type UserKey = { id: string } | { email: string };

export function readUserKey(text: string): UserKey {
  if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(text)) return { id: text.toLowerCase() };
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Enter a valid email address, or the id of a user.');
  return { email };
}

/** Finds a user, without a lock. */
export const findUser = (db: Database, key: UserKey): Promise<User | undefined> =>
  'id' in key ? findUserById(db, key.id) : findHolder(db, key.email);

export function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Enter a whole number.');
  return Number(text);
}

/** Why an operator did something: it goes into the audit trail. */
export function readWhy(text: string): string {
  const why = text.trim();
  if (why === '' || why.length > 500) throw new InvalidArgumentError('Enter 1 to 500 characters.');
  return why;
}

export function readName(text: string): string {
  const name = nameSchema.safeParse(text);
  if (!name.success) throw new InvalidArgumentError(name.error.issues[0]?.message ?? 'Enter a valid name.');
  return name.data;
}
