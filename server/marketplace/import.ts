// The bulk of the migration: a file with one marketplace profile a line, under the same rules as a hand-off but
// without a session. Each batch is one transaction and each line may come again, so an import can be interrupted at any
// moment and run again.
import type { Transaction } from 'kysely';
import { recordAuditEvent } from '../../db/audit-events.ts';
import type { Database } from '../../db/postgres/client.ts';
import { inTransaction } from '../../db/postgres/transactions.ts';
import type { DB } from '../../db/schema.ts';
import { lockLinkedUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import { parseStrictJson, StrictJsonError } from '../sso/strict-json.ts';
import { acceptProfile, provider } from './accept-profile.ts';
import { type MarketplaceProfile, marketplaceProfileSchema } from './payload.ts';

export type ImportCounts = {
  created: number;
  linked: number;
  updated: number;
  stale: number;
  refused: number;
};

/** `reason` is one of our codes, or what is wrong with the line itself. */
export type RefusedLine = { line: number; id?: string; reason: string };

type Line = { line: number; text: string };
type LineResult =
  | { kind: Exclude<keyof ImportCounts, 'refused'> }
  | { kind: 'refused'; refused: RefusedLine };

const batchSize = 100;
const maxLineLength = 64 * 1024;

/**
 * Reads `lines` to the end, or until `isStopped`. Calls `onBatch` after each committed batch, with the counts so far
 * and the refused lines of that batch.
 */
export async function importProfiles(
  db: Database,
  lines: AsyncIterable<string>,
  options: {
    now: () => Date;
    isStopped: () => boolean;
    onBatch: (counts: ImportCounts, refused: RefusedLine[]) => Promise<void>;
  },
): Promise<ImportCounts> {
  const counts: ImportCounts = { created: 0, linked: 0, updated: 0, stale: 0, refused: 0 };
  let batch: Line[] = [];
  let line = 0;
  const flush = async () => {
    const results = await importBatch(db, batch, options.now());
    batch = [];
    for (const { kind } of results) counts[kind]++;
    const refused = results.flatMap((result) => (result.kind === 'refused' ? [result.refused] : []));
    await options.onBatch(counts, refused);
  };
  for await (const text of lines) {
    line++;
    if (text.trim() !== '') batch.push({ line, text });
    if (batch.length === batchSize) await flush();
    if (options.isStopped()) return counts;
  }
  if (batch.length > 0) await flush();
  return counts;
}

async function importBatch(db: Database, batch: Line[], now: Date): Promise<LineResult[]> {
  return inTransaction(db, async (trx) => {
    const results: LineResult[] = [];
    for (const line of batch) results.push(await importLine(trx, line, now));
    return results;
  });
}

async function importLine(trx: Transaction<DB>, { line, text }: Line, now: Date): Promise<LineResult> {
  const profile = readProfile(text, now);
  if (typeof profile === 'string') return { kind: 'refused', refused: { line, reason: profile } };
  const { id } = profile;
  const refuse = (reason: string): LineResult => ({ kind: 'refused', refused: { line, id, reason } });
  try {
    const known = await lockLinkedUser(trx, provider, id);
    const outcome = await acceptProfile(trx, { now: () => now }, profile, known);
    if (outcome.kind === 'connect_needed') return refuse('password_to_be_proved');
    const { change, userId } = outcome;
    if (change !== 'stale') {
      const details = { id, line };
      await recordAuditEvent(trx, { type: 'import.accepted', reason: change, userId, details });
    }
    return { kind: change === 'proved' ? 'updated' : change };
  } catch (error) {
    // `acceptProfile` refuses before it writes anything, so the rest of the batch stands.
    if (error instanceof AppError) return refuse(error.code);
    throw error;
  }
}

/** The profile, or what is wrong with the line. */
function readProfile(text: string, now: Date): MarketplaceProfile | string {
  if (text.length > maxLineLength) return 'malformed: too long';
  try {
    const parsed = marketplaceProfileSchema.safeParse(parseStrictJson(new TextEncoder().encode(text)));
    if (!parsed.success) return `malformed: ${parsed.error.issues[0]?.path.join('.') || 'the whole'}`;
    return parsed.data.profile_updated_at > now ? 'malformed: profile_updated_at in the future' : parsed.data;
  } catch (error) {
    if (error instanceof StrictJsonError) return `malformed: ${error.message}`;
    throw error;
  }
}
