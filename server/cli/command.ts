// What the commands share.
import { InvalidArgumentError } from 'commander';
import { type Database, openDatabase } from '../../db/client.ts';
import { startEmbeddedPostgres } from '../../db/embedded.ts';
import { migrate } from '../../db/migrate.ts';
import { readConfig } from '../config.ts';
import { readEmailAddress } from '../identity/email-address.ts';
import { nameSchema } from '../identity/names.ts';
import { dataFolder } from '../runtime/files.ts';
import { environment } from '../runtime/process.ts';

/** Told to the operator in a sentence. */
export class CommandError extends Error {}

export const now = () => new Date();

/** On the same settings and database as the service. */
export async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const config = readConfig(environment);
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres(config.embeddedDatabaseFolder ?? dataFolder);
  const database = openDatabase({
    url: config.databaseUrl ?? embedded?.url ?? '',
    poolSize: 2,
    preparedStatements: config.databasePreparedStatements,
    onError: () => undefined,
  });
  try {
    await migrate(database.db);
    return await work(database.db);
  } finally {
    await database.close();
    await embedded?.stop();
  }
}

export function readEmail(text: string): string {
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Not an e-mail address.');
  return email;
}

export function readNumber(text: string): number {
  if (!/^\d{1,15}$/.test(text)) throw new InvalidArgumentError('Not a whole number.');
  return Number(text);
}

export function readName(text: string): string {
  const name = nameSchema.safeParse(text);
  if (!name.success) throw new InvalidArgumentError(name.error.issues[0]?.message ?? 'Not a name.');
  return name.data;
}
