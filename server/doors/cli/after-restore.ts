// Lets billing continue after database:restored (contract 7.349 and 7.420 to 7.423).
import { type Command, InvalidArgumentError } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { AppError } from '../../basics/errors.ts';
import { describeLost, describeSpan, listLost, listNextNumbers } from '../../billing/invoices/pause.ts';
import { type ArchiveCopy, type Replaced, resumeBilling } from '../../billing/upkeep/resume.ts';
import { print, printAside } from '../../runtime/process.ts';
import { addReason, booksTrailOf, originOf, type Reason } from './act.ts';
import {
  CommandError,
  describeRefusal,
  requireAnswerable,
  requireYes,
  show,
  withDatabase,
  writeJson,
} from './command.ts';

type Options = Reason & { yes: boolean; lost?: ArchiveCopy[] };

export function addAfterRestoreCommands(program: Command): void {
  const resuming = program
    .command('billing:resume')
    .description('let billing go on after database:restored: documents are issued, and their emails leave')
    .option(
      '--lost <number:signup:day...>',
      'what archive copies say of lost invoices, such as INV-2026-0041:crm_1:2026-11-26',
      (text: string, given: ArchiveCopy[] = []) => [...given, readCopy(text)],
    )
    .option('--yes', 'do not ask', false);
  addReason(resuming, { isRequired: false }).action(async (options: Options) => {
    const said = await withDatabase((db) => resume(db, options));
    print(options.json ? writeJson(said) : describe(said));
  });
}

function readCopy(text: string): ArchiveCopy {
  const [, number, signupId, firstDay] = /^([^:]+):(.+):(\d{4}-\d{2}-\d{2})$/.exec(text) ?? [];
  if (!number || !signupId || !firstDay)
    throw new InvalidArgumentError('Enter such as INV-2026-0041:crm_1:2026-11-26.');
  return { number, signupId, firstDay };
}

type Said = { done: boolean; intent: string; replaced?: Replaced[] };

function describe({ done, replaced = [] }: Said): string {
  if (!done) return 'Billing was not waiting.';
  const lines = replaced.map(({ lost, number }) => `${number} takes the place of ${lost}.`);
  return [...lines, 'Billing goes on.'].join('\n');
}

async function resume(db: Database, options: Options) {
  const intent = 'resume';
  if (!options.lost && !(await findBillingPause(db))) return { done: false, intent };
  const [next, lost] = [await listNextNumbers(db), await listLost(db)];
  requireAnswerable(options);
  if (!options.json) {
    const sum = lost.reduce((count, span) => count + span.count, 0);
    if (next.length > 0) printAside(`The next invoice is ${next.join(', and the next credit note ')}.`);
    printAside(
      sum > 0
        ? `${sum} ${sum === 1 ? 'document stays' : 'documents stay'} lost: ${describeLost(lost)}.`
        : 'No document is lost.',
    );
  }
  await requireYes(options, 'Let billing go on?');
  const replaced = await inTransaction(db, originOf('billing:resume', options), (trx) =>
    resumeBilling(trx, options.lost ?? [], booksTrailOf(options)),
  ).catch((error) => {
    if (error instanceof AppError) throw new CommandError(`Nothing changed: ${show(describeRefusal(error))}`);
    throw error;
  });
  return { done: replaced !== undefined, intent, next, lost: lost.map(describeSpan), replaced };
}
