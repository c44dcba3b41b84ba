// Compares our contracts with the CRM's view of them (docs/crm.md), in bounded memory, and changes nothing.

import { inTransaction } from '../../../db/postgres/transactions.ts';
import {
  type ContractDifference,
  type ContractView,
  createContractViews,
  findDifferences,
  insertContractViews,
} from '../../../db/tables/contract-views.ts';
import { liftTimeouts } from '../../../db/timeouts.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { View, ViewLine } from './crm-view.ts';

/** `missing` means that only the CRM has the contract. `extra` means that only this service has it. */
export type Finding =
  | { kind: 'bad'; line: number; reason: string }
  | { kind: 'repeated'; line: number; signup_id: string; first_line: number }
  | { kind: 'missing'; signup_id: string; line: number }
  | { kind: 'extra'; signup_id: string; ours: Record<string, unknown> }
  | {
      kind: 'different';
      signup_id: string;
      line: number;
      members: Record<string, { ours: unknown; theirs: unknown }>;
    };

export type Comparison = {
  lines: number;
  equal: number;
  findings: Record<Finding['kind'], number>;
  /** The members that at least one line has. Other members were not compared. */
  compared: string[];
};

const batchSize = 1_000;

/**
 * Reads `lines` from beginning to end, one time. Waits for each call of `onFindings`, so that findings do not pile up in
 * memory.
 */
export async function compareContracts(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  lines: AsyncIterable<ViewLine>,
  onFindings: (findings: Finding[]) => Promise<void>,
): Promise<Comparison> {
  const findings = { bad: 0, repeated: 0, missing: 0, extra: 0, different: 0 };
  const tell = async (found: Finding[]) => {
    for (const { kind } of found) findings[kind]++;
    if (found.length > 0) await onFindings(found);
  };
  const compared = new Set<keyof View>();
  let count = 0;
  let equal = 0;

  await inTransaction(db, { by: 'operator', cause: 'reconcile' }, async (trx) => {
    // The transaction has no time limit, because it lasts until the whole file has arrived.
    await liftTimeouts(trx);
    await createContractViews(trx);
    for await (const batch of inBatches(lines)) {
      count += batch.length;
      for (const { view = {} } of batch)
        for (const member of Object.keys(view)) compared.add(member as keyof View);
      const views = batch.flatMap(toContractView);
      await insertContractViews(trx, views);
      equal += views.filter(({ view }) => view).length;
      await tell(
        batch.flatMap(({ line, fault }) => (fault ? [{ kind: 'bad' as const, line, reason: fault }] : [])),
      );
    }
    for await (const differences of findDifferences(trx, now())) {
      // The loop above counted each readable line as equal. This subtracts each line that turned out not to be equal.
      equal -= differences.filter(({ theirs }) => theirs).length;
      await tell(differences.map(toFinding));
    }
  });
  return { lines: count, equal, findings, compared: [...compared].sort() };
}

async function* inBatches(lines: AsyncIterable<ViewLine>): AsyncGenerator<ViewLine[], void> {
  let batch: ViewLine[] = [];
  for await (const line of lines) {
    if (batch.push(line) < batchSize) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}

/**
 * A faulty line is not compared. But the line names its signup, so the CRM has this signup, and it must not be reported as
 * `extra`.
 */
const toContractView = ({ line, signupId, view }: ViewLine): ContractView[] =>
  signupId === undefined ? [] : [{ line, signup_id: signupId, view: view ?? null }];

function toFinding({ signup_id, line, first_line, ours, theirs }: ContractDifference): Finding {
  if (line === null || first_line === null) return { kind: 'extra', signup_id, ours: ours ?? {} };
  if (line > first_line) return { kind: 'repeated', line, signup_id, first_line };
  if (ours === null) return { kind: 'missing', signup_id, line };
  const members = Object.fromEntries(
    Object.entries(theirs ?? {})
      .filter(([name, value]) => JSON.stringify(value) !== JSON.stringify(ours[name]))
      .map(([name, value]) => [name, { ours: ours[name], theirs: value }]),
  );
  return { kind: 'different', signup_id, line, members };
}
