// Files for client:apply, and what the database has after the command.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Kysely, sql } from 'kysely';
import type { DB } from '../../../db/schema.ts';

let serial = 0;

/** Writes the entries into a new file of the folder, and returns its path. A text or bytes are written as they are. */
export async function writeClients(folder: string, clients: unknown): Promise<string> {
  const path = join(folder, `clients-${++serial}.json`);
  const isRaw = typeof clients === 'string' || clients instanceof Uint8Array;
  await writeFile(path, isRaw ? clients : JSON.stringify({ clients }));
  return path;
}

export const newPath = (folder: string) => join(folder, `secrets-${++serial}`);

/** Returns the secrets of a file that --secrets-to has written, by name. */
export async function readSecrets(path: string): Promise<Map<string, string>> {
  const lines = (await readFile(path, 'utf8')).split('\n').filter(Boolean);
  return new Map(lines.map((line) => line.split('\t') as [string, string]));
}

export type StoredRow = { id: string; issuer: string; name: string; is_off: boolean; sealed: Uint8Array[] };

export async function listStored(db: Kysely<DB>): Promise<StoredRow[]> {
  const { rows } = await sql<StoredRow>`
    select c.id, c.issuer, c.name, c.off_at is not null as is_off,
      array(select sealed from client_secrets where client_id = c.id order by made_at) as sealed
    from clients c order by c.name`.execute(db);
  return rows;
}

export async function listAudit(db: Kysely<DB>) {
  const { rows } = await sql<{ type: string; client: string; details: Record<string, unknown>; why: string }>`
    select type, details->>'client' as client, details, why from audit_events
    where type like 'staff.%client%' order by at, id`.execute(db);
  return rows;
}

export async function listClientMails(db: Kysely<DB>) {
  const { rows } = await sql<{ user_id: string; what: string; client: string }>`
    select user_id, details->>'what' as what, details->>'client' as client
    from mails where kind = 'client_changed' order by id`.execute(db);
  return rows;
}
