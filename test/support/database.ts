// The database layer alone, on a database of its own.
import { inject } from 'vitest';
import { type DatabaseClient, openDatabase } from '../../db/client.ts';
import { cloneDatabase } from './postgres.ts';

export type TestClient = DatabaseClient & { url: string };

/** `close` drops the database too. */
export async function openClient(): Promise<TestClient> {
  const { url, drop } = await cloneDatabase(inject('templateUrl'));
  const client = openDatabase({ url, poolSize: 4, preparedStatements: true, onError: () => undefined });
  return {
    ...client,
    url,
    async close() {
      await client.close();
      await drop();
    },
  };
}
