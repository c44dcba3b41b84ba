// Shared by the commands: the database, and reading options.
import { InvalidArgumentError } from 'commander';
import { startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { type Database, openDatabase } from '../../db/postgres/client.ts';
import { migrate } from '../../db/postgres/migrate.ts';
import { readEmailAddress } from '../identity/email-address.ts';
import { nameSchema } from '../identity/names.ts';
import { dataFolder } from '../runtime/files.ts';
import { environment, printAside } from '../runtime/process.ts';
import { readConfig } from '../settings/config.ts';

/** Its message is a sentence for the operator. */
export class CommandError extends Error {}

export const now = () => new Date();

/** Migrates the database of the service, and closes it after `work`. `statementTimeoutMs` is that of `openDatabase`. */
export async function withDatabase<T>(
  work: (db: Database) => Promise<T>,
  { statementTimeoutMs }: { statementTimeoutMs?: number } = {},
): Promise<T> {
  const config = readConfig(environment);
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres(config.embeddedDatabaseFolder ?? dataFolder);
  const url = config.databaseUrl ?? embedded?.url ?? '';
  try {
    await migrate(url, (what) => printAside(`Waiting for ${what}.`));
    const database = openDatabase({
      url,
      poolSize: 2,
      preparedStatements: config.databasePreparedStatements,
      statementTimeoutMs,
      onError: () => undefined,
    });
    return await work(database.db).finally(database.close);
  } finally {
    await embedded?.stop();
  }
}

export function readEmail(text: string): string {
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Enter a valid email address.');
  return email;
}

export function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Enter a whole number.');
  return Number(text);
}

export function readName(text: string): string {
  const name = nameSchema.safeParse(text);
  if (!name.success) throw new InvalidArgumentError(name.error.issues[0]?.message ?? 'Enter a valid name.');
  return name.data;
}
