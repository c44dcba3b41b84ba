// Commands for payments from a file (contract 7.310 to 7.319, and 7.510 to 7.518).
import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { AppError } from '../../basics/errors.ts';
import { findZone } from '../../billing/invoices/issue.ts';
import {
  findKnown,
  importPayments,
  type LineResult,
  type Outcome,
  outcomes,
  planPayments,
} from '../../billing/payments/import-payments.ts';
import { nameAsRecorded } from '../../billing/payments/older-ids.ts';
import { type Fault, maxFileKibibytes, readPaymentFile } from '../../billing/payments/payment-file.ts';
import { dayIn } from '../../billing/values/days.ts';
import { writeDecimal } from '../../billing/values/decimals.ts';
import { readWhole, writeLinesOut } from '../../runtime/files.ts';
import { isTerminal, onStopSignal, print, printAside } from '../../runtime/process.ts';
import { addReason, booksTrailOf, originOf, type Reason } from './act.ts';
import { CommandError, describeRefusal, now, requireYes, show, withDatabase, writeJson } from './command.ts';

type Options = Reason & { dryRun: boolean; yes: boolean };

export function addPaymentImportCommand(program: Command): void {
  const command = program
    .command('payment:import')
    .description('record the payments of a file, each once; can be interrupted and run again')
    .argument(
      '<file>',
      'a statement of your bank (CSV or CAMT.053), or CSV with the columns number, amount, currency, date, reference; - for standard input',
    )
    .option('--dry-run', 'change nothing, and say what each line would do', false)
    .option('--yes', 'do not ask', false);
  addReason(command, { isRequired: false }).action(async (file: string, options: Options) => {
    const bytes = await readWhole(file, maxFileKibibytes);
    let isStopped = false;
    const work = withDatabase((db) => run(db, bytes, options, () => isStopped), {
      isDryRun: options.dryRun,
    });
    onStopSignal(async () => {
      isStopped = true;
      await work;
    });
    await work;
  });
}

async function run(
  db: Database,
  bytes: Uint8Array,
  options: Options,
  isStopped: () => boolean,
): Promise<void> {
  const { payments: listed, faults } = await readPaymentFile(bytes, dayIn(await findZone(db), now()));
  refuse(faults);
  const payments = await nameAsRecorded(db, listed);
  const { known, faults: others } = await findKnown(db, payments);
  refuse(others);
  const plan = () => planPayments(db, payments, known);
  if (options.dryRun) return print(summarise(await report(plan(), options), options));
  if (isTerminal() && !options.yes) {
    const counts = count();
    for await (const { outcome } of plan()) counts[outcome]++;
    printAside(describeCounts(counts, 'would be '));
    await requireYes(options, 'Record these payments?');
  }
  const by = () => ({ now: now(), recordedBy: 'operator', trail: booksTrailOf(options) }) as const;
  const origin = originOf('payment:import', options);
  const counts = await report(importPayments(db, payments, { known, origin, by, isStopped }), options);
  print(summarise(counts, options));
  if (isStopped()) printAside('Stopped before the end. Run it again to continue.');
  if (counts.left > 0) printAside('Decide about what is left at /admin/billing/import, with the same file.');
}

/** Throws an error with one line for each fault. */
function refuse(faults: Fault[]): void {
  if (faults.length === 0) return;
  const lines = faults.map(
    ({ line, column, detail }) =>
      `${line ? `Line ${line}${column ? `, ${column}` : ''}: ` : ''}${show(detail)}`,
  );
  throw new CommandError([...lines, 'Nothing was recorded.'].join('\n'));
}

const count = () => Object.fromEntries(outcomes.map((outcome) => [outcome, 0])) as Record<Outcome, number>;

/** Prints each line as soon as it is done. Returns how many lines had each outcome. */
async function report(
  results: AsyncGenerator<LineResult, void>,
  { json }: Options,
): Promise<Record<Outcome, number>> {
  const counts = count();
  const out = writeLinesOut();
  try {
    for await (const result of results) {
      counts[result.outcome]++;
      const { isOut: _, ...told } = result;
      if (json) await out.write(writeJson(told));
      else if (result.outcome !== 'out') await out.write(describeLine(result));
    }
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new CommandError(
      `A line could not be recorded: ${describeRefusal(error)} What is said of lines above is done.`,
    );
  }
  return counts;
}

const outcomeWords: Record<Outcome, string> = {
  whole: 'allocated whole',
  part: 'allocated in part',
  unallocated: 'unallocated',
  known: 'known already',
  refund: 'taken back from its payment',
  left: 'left for you to decide',
  out: 'paid out, so left alone',
};

/**
 * A dry run writes “would be” before an outcome if the import would change something. Returns whether the import would change
 * nothing.
 */
const isAsItIs = (outcome: Outcome) => outcome === 'known' || outcome === 'left' || outcome === 'out';

function describeLine({ line, currency, amount, outcome, unallocated, isOut, ...of }: LineResult): string {
  const left = outcome === 'part' ? `, ${writeDecimal(unallocated, currency)} unallocated` : '';
  const number = of.matched ?? of.number;
  // A payment that was recorded before may pay an invoice by now. So this does not say “for no invoice” about it.
  const to = number === null ? (outcome === 'known' ? '' : ' for no invoice') : ` for ${show(number)}`;
  const sign = isOut ? '-' : '';
  const may = of.proposals.length > 0 ? `; may be for ${of.proposals.join(' or ')}` : '';
  const like = of.alike.length > 0 ? `; of the same amount and day as ${of.alike.join(' and ')}` : '';
  return `line ${line}: ${sign}${writeDecimal(amount, currency)} ${currency}${to}: ${outcomeWords[outcome]}${left}${may}${like}`;
}

const sum = (counts: Record<Outcome, number>) => outcomes.reduce((all, outcome) => all + counts[outcome], 0);

const describeCounts = (counts: Record<Outcome, number>, would: string): string =>
  `${sum(counts)} ${sum(counts) === 1 ? 'payment' : 'payments'}: ${outcomes
    // Some outcomes occur only in bank statements. Such an outcome is left out if no line has it.
    .filter((outcome) => counts[outcome] > 0 || ['whole', 'part', 'unallocated', 'known'].includes(outcome))
    .map((outcome) => `${counts[outcome]} ${isAsItIs(outcome) ? '' : would}${outcomeWords[outcome]}`)
    .join(', ')}.`;

function summarise(counts: Record<Outcome, number>, { dryRun, json }: Options): string {
  if (json) return writeJson({ summary: { dry_run: dryRun, payments: sum(counts), ...counts } });
  return `${describeCounts(counts, dryRun ? 'would be ' : '')}${dryRun ? ' Nothing was recorded.' : ''}`;
}
