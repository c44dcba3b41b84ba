// The bulk of the migration: one marketplace profile a line, by the same rules as a hand-off but without a
// session. Every batch is one transaction and every line may come again, so it can be interrupted at any
// moment and run anew.
import { recordAuditEvent } from '../../db/audit-events.ts';
import type { Database } from '../../db/client.ts';
import { inTransaction } from '../../db/transactions.ts';
import { lockLinkedUser } from '../../db/users.ts';
import { AppError } from '../errors.ts';
import { parseStrictJson, StrictJsonError } from '../sso/strict-json.ts';
import { acceptProfile, provider } from './hand-off.ts';
import { type MarketplaceProfile, marketplaceProfileSchema } from './marketplace-payload.ts';

export type ImportCounts = {
  created: number;
  linked: number;
  updated: number;
  stale: number;
  refused: number;
};

/** `reason` is one of our codes, or what is wrong with the line itself. */
export type RefusedLine = { line: number; id?: string; reason: string };

const batchSize = 100;
const maxLineLength = 64 * 1024;

/**
 * Reads `lines` to their end, or until `isStopped`. `onBatch` is told the counts so far after each batch that
 * is committed, with the lines of it that were refused.
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
  let batch: { line: number; text: string }[] = [];
  let line = 0;
  const flush = async () => {
    const results = await importBatch(db, batch, options.now());
    batch = [];
    for (const { outcome } of results) counts[outcome]++;
    await options.onBatch(
      counts,
      results.flatMap(({ refused }) => (refused ? [refused] : [])),
    );
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

type LineResult = { outcome: keyof ImportCounts; refused?: RefusedLine };

async function importBatch(
  db: Database,
  batch: { line: number; text: string }[],
  now: Date,
): Promise<LineResult[]> {
  return inTransaction(db, async (trx) => {
    const results: LineResult[] = [];
    for (const { line, text } of batch) {
      const profile = readProfile(text, now);
      if (typeof profile === 'string') {
        results.push({ outcome: 'refused', refused: { line, reason: profile } });
        continue;
      }
      const refuse = (reason: string): LineResult => ({
        outcome: 'refused',
        refused: { line, id: profile.id, reason },
      });
      try {
        const known = await lockLinkedUser(trx, provider, profile.id);
        const outcome = await acceptProfile(trx, profile, known, now);
        if (outcome.kind === 'proof_needed') {
          results.push(refuse('password_to_be_proved'));
          continue;
        }
        const { change, userId } = outcome;
        results.push({ outcome: change });
        const details = { id: profile.id, line };
        if (change !== 'stale')
          await recordAuditEvent(trx, { type: 'import.accepted', reason: change, userId, details });
      } catch (error) {
        // A refusal comes before anything is written, so the rest of the batch stands.
        if (!(error instanceof AppError)) throw error;
        results.push(refuse(error.code));
      }
    }
    return results;
  });
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
