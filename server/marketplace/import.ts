// Imports a file with one marketplace profile per line, by the rules of a hand-off but without a session. Each batch is one
// transaction, and a line may be imported twice, so an import can be interrupted at any time and run again.
import type { Transaction } from 'kysely';
import type { Database } from '../../db/postgres/client.ts';
import { inRolledBackTransaction, inTransaction, setOrigin } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { shadowTables } from '../../db/shadow-tables.ts';
import { deferAuditEvent } from '../../db/tables/audit-events.ts';
import { lockExternalIds } from '../../db/tables/external-links.ts';
import { lockLinkedUser } from '../../db/tables/linked-users.ts';
import { AppError } from '../basics/errors.ts';
import type { Config } from '../settings/config.ts';
import { isBlank, parseStrictJson, StrictJsonError } from '../sso/strict-json.ts';
import { acceptProfile, provider } from './accept-profile.ts';
import type { Occasion } from './apply-profile.ts';
import { type LineResult, listChanges } from './import-report.ts';
import { type MarketplaceProfile, marketplaceProfileSchema } from './payload.ts';

type Line = { line: number } & ({ profile: MarketplaceProfile } | { fault: string });

export type ImportOptions = {
  config: Pick<Config, 'production'>;
  now: () => Date;
  /** The name of the file in the history. */
  name: string;
  isStopped: () => boolean;
  /** Called after each batch. An import has committed the batch by then. */
  onBatch: (results: LineResult[]) => Promise<void>;
};

const batchSize = 100;
export const maxLineLength = 64 * 1024;

export async function importProfiles(
  db: Database,
  lines: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<void> {
  const { config, name } = options;
  await forEachBatch(lines, options, (batch, now) =>
    inTransaction(db, { by: 'marketplace', cause: name }, (trx) =>
      importBatch(trx, batch, { config, now: () => now }, (line) =>
        setOrigin(trx, { by: 'marketplace', cause: `${name}:${line}` }),
      ),
    ),
  );
}

export async function dryRunImport(
  db: Database,
  lines: AsyncIterable<Uint8Array>,
  options: ImportOptions,
): Promise<void> {
  const { config } = options;
  await inRolledBackTransaction(db, async (trx) => {
    const copyConcerned = await shadowTables(trx);
    await forEachBatch(lines, options, async (batch, now) => {
      const profiles = batch.flatMap((line) => ('profile' in line ? [line.profile] : []));
      const externalIds = profiles.map(({ id }) => id);
      await copyConcerned({ provider, externalIds, emails: profiles.map(({ email }) => email) });
      return importBatch(trx, batch, { config, now: () => now });
    });
  });
}

async function forEachBatch(
  lines: AsyncIterable<Uint8Array>,
  { now, isStopped, onBatch }: ImportOptions,
  work: (batch: Line[], now: Date) => Promise<LineResult[]>,
): Promise<void> {
  let batch: { line: number; bytes: Uint8Array }[] = [];
  let line = 0;
  const flush = async () => {
    const at = now();
    const results = await work(
      batch.map(({ line, bytes }) => readLine(line, bytes, at)),
      at,
    );
    batch = [];
    await onBatch(results);
  };
  for await (const bytes of lines) {
    line++;
    if (!isBlank(bytes)) batch.push({ line, bytes });
    if (batch.length === batchSize) await flush();
    if (isStopped()) return;
  }
  if (batch.length > 0) await flush();
}

async function importBatch(
  trx: Transaction<DB>,
  batch: Line[],
  occasion: Occasion,
  onLine?: (line: number) => void,
): Promise<LineResult[]> {
  // Links are always locked before their users. The fixed order keeps two imports of the same people from a deadlock.
  await lockExternalIds(
    trx,
    provider,
    batch.flatMap((line) => ('profile' in line ? [line.profile.id] : [])),
  );
  const results: LineResult[] = [];
  for (const line of batch) {
    onLine?.(line.line);
    results.push(await importLine(trx, line, occasion));
  }
  return results;
}

async function importLine(trx: Transaction<DB>, read: Line, occasion: Occasion): Promise<LineResult> {
  const { line } = read;
  if ('fault' in read) return { line, kind: 'refused', reason: `malformed: ${read.fault}` };
  const { profile } = read;
  const { id } = profile;
  const refuse = (reason: string): LineResult => ({ line, id, kind: 'refused', reason });
  try {
    const known = await lockLinkedUser(trx, provider, id);
    const outcome = await acceptProfile(trx, occasion, profile, known);
    if (outcome.kind === 'connect_needed') return refuse('password_to_be_proved');
    const { change, userId, applied } = outcome;
    if (change === 'stale') return { line, id, kind: 'unchanged' };
    deferAuditEvent(trx, { type: 'import.accepted', reason: change, userId, details: { id, line } });
    return {
      line,
      id,
      kind: change === 'proved' ? 'updated' : change,
      ...(applied && listChanges(applied)),
      ...(known && known.user.id !== userId && { removed: known.user.email }),
    };
  } catch (error) {
    // `acceptProfile` refuses before it writes anything, so a refused line does not stop the other lines of the batch.
    if (error instanceof AppError)
      return refuse(error.code === 'malformed_payload' ? `malformed: ${error.reason}` : error.code);
    throw error;
  }
}

function readLine(line: number, bytes: Uint8Array, now: Date): Line {
  if (bytes.length > maxLineLength) return { line, fault: 'too long' };
  try {
    const { success, data, error } = marketplaceProfileSchema.safeParse(parseStrictJson(bytes));
    if (!success) return { line, fault: error.issues[0]?.path.join('.') || 'the whole' };
    const isLater = data.profile_updated_at > now;
    return isLater ? { line, fault: 'profile_updated_at in the future' } : { line, profile: data };
  } catch (error) {
    if (error instanceof StrictJsonError) return { line, fault: error.message };
    throw error;
  }
}
