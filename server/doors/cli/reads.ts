// Tells the doctor how far a client has read its events. Reads the service's own database, and changes nothing there.

import type { FindReads } from '../../../clients/doctor/target.ts';
import { findEmbeddedPostgres } from '../../../db/embedded/server.ts';
import { type Database, openDatabase } from '../../../db/postgres/client.ts';
import { listDeliveries } from '../../../db/tables/event-deliveries.ts';
import { clientsOfSettings } from '../../clients/book.ts';
import { dataFolder } from '../../runtime/files.ts';
import type { Config } from '../../settings/config.ts';
import type { Clients } from '../../sso/clients.ts';
import { readClients } from './command.ts';

const answerWithinMs = 3_000;

const findUrl = async (config: Config) =>
  config.databaseUrl ?? (await findEmbeddedPostgres(config.embeddedDatabaseFolder ?? dataFolder));

const open = (config: Config, url: string) =>
  openDatabase({
    url,
    poolSize: 1,
    preparedStatements: config.databasePreparedStatements,
    onError: () => undefined,
  });

/** Returns the clients of the settings, and the clients of the database if it can be read. */
export async function findClients(config: Config): Promise<Clients> {
  const url = await findUrl(config);
  if (url === undefined) return clientsOfSettings(config);
  const { db, close } = open(config, url);
  return readClients(db, config)
    .catch(() => clientsOfSettings(config))
    .finally(close);
}

export async function withReads<T>(
  config: Config,
  client: string,
  work: (findReads: FindReads, db?: Database) => Promise<T>,
): Promise<T> {
  const url = await findUrl(config);
  if (url === undefined) return work(async () => 'The doctor has no database here.');
  const { db, close } = open(config, url);
  const service = checkService(config.baseUrl);
  async function findReads() {
    const away = await service;
    if (away !== undefined) return away;
    try {
      const [delivery] = await listDeliveries(db, [client]);
      return delivery ?? 'The database has no record of this client.';
    } catch (error) {
      return `The database of the service could not be read (${describe(error)}).`;
    }
  }
  try {
    return await work(findReads, db);
  } finally {
    await close();
  }
}

/** If the service does not answer, clients cannot read events. Then this returns a sentence that says so. */
async function checkService(baseUrl: string): Promise<string | undefined> {
  const url = new URL('/sso/events', baseUrl);
  const answer = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(answerWithinMs) }).catch(
    () => undefined,
  );
  await answer?.body?.cancel();
  return answer?.status === 401 ? undefined : `The service does not answer at ${url.origin}.`;
}

function describe(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return code ?? message ?? String(error);
}
