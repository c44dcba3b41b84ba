import { type Command, Option } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { listAllContracts, listAllInvoices } from '../../../db/tables/invoice-lists.ts';
import { AppError } from '../../basics/errors.ts';
import { faultWords } from '../../basics/fault-words.ts';
import { findSettings, findZone, zoneOf } from '../../billing/invoices/issue.ts';
import {
  contractStates,
  describeListedContract,
  describeListedInvoice,
  invoiceStates,
} from '../../billing/invoices/lists.ts';
import { readPreview } from '../../billing/invoices/preview.ts';
import { listReverseCountries } from '../../billing/invoices/tax.ts';
import { type BookName, bookNames, exportBooks } from '../../billing/upkeep/export.ts';
import { isDay } from '../../billing/values/days.ts';
import { formatAmount } from '../../billing/values/decimals.ts';
import { writeCsv } from '../../runtime/csv.ts';
import { type LineWriter, openLineWriter, requireEmptyFolder, writeLinesOut } from '../../runtime/files.ts';
import { print, printAside } from '../../runtime/process.ts';
import {
  CommandError,
  describeRefusal,
  now,
  readEmail,
  readIf,
  readUpTo,
  requireUser,
  show,
  UsageError,
  withDatabase,
  writeJson,
} from './command.ts';

const json = ['--json', 'for programs: one JSON object a line', false] as const;
const readDay = readIf(isDay, faultWords.day_none);

export function addInvoiceCommands(program: Command): void {
  program
    .command('billing:export')
    .description(
      'write documents, lines, taxes, money, allocations and the sums for OSS and EC sales lists of a span of days as CSV files',
    )
    .requiredOption('--from <date>', 'the first day, such as 2026-01-01', readDay)
    .requiredOption('--to <date>', 'the last day, at most today', readDay)
    .requiredOption('--out <folder>', 'a folder that is empty, or is made')
    .option(...json)
    .action(async (options: { from: string; to: string; out: string; json: boolean }) => {
      const counts = await withDatabase((db) => writeFolder(db, options), { statementTimeoutMs: 0 });
      print(
        options.json
          ? writeJson(counts)
          : bookNames.map((name) => `${name}: ${counts[name]} records`).join('\n'),
      );
    });

  program
    .command('contract:preview')
    .description('print the documents to come of a contract, as if all is paid in time')
    .argument('<signup id>', "the CRM's id for it")
    .requiredOption('--months <number>', 'how far to look ahead, 1 to 120', readUpTo(120))
    .option(...json)
    .action(async (signupId: string, options: { months: number; json: boolean }) => {
      const { documents, held } = await withDatabase((db) =>
        readPreview(db, signupId, options.months).catch(explainPreview),
      );
      for (const document of documents)
        print(options.json ? writeJson(document) : describeForecast(document));
      if (held)
        print(
          options.json ? writeJson({ held }) : `Nothing more, because the next period is blocked: ${held}`,
        );
      else if (documents.length === 0 && !options.json) print('Nothing is to come.');
    });

  program
    .command('contracts')
    .description('list contracts, in the order in which they were made')
    .addOption(new Option('--state <state>', 'only these').choices(contractStates))
    .option('--account <email>', 'only those of the account of whoever holds this address', readEmail)
    .option(...json)
    .action((options: ListOptions) =>
      list(options, 'No contracts.', async function* (db, accountId) {
        const settings = await findSettings(db);
        const zone = zoneOf(settings);
        const isByVatId = options.state === 'vat-id';
        const vatIdsOf = isByVatId ? listReverseCountries(settings?.settings.seller) : undefined;
        for await (const contracts of listAllContracts(db, { accountId, vatIdsOf }))
          yield contracts.map((contract) => {
            const described = describeListedContract(contract, { now: now(), zone });
            const { signup_id, status, plan, last_day, held, email } = described;
            const facts = [
              ...[signup_id, status, plan, email ?? 'erased'],
              ...[last_day && `last day ${last_day}`, held && `blocked: ${held}`],
            ];
            const states = [status, ...(held ? ['held'] : []), ...(isByVatId ? ['vat-id'] : [])];
            return { states, described, facts };
          });
      }),
    );

  program
    .command('invoices')
    .description('list invoices, in the order in which they were issued')
    .addOption(new Option('--state <state>', 'only these').choices(invoiceStates))
    .option('--account <email>', 'only those of the account of whoever holds this address', readEmail)
    .option(...json)
    .action((options: ListOptions) =>
      list(options, 'No invoices.', async function* (db, accountId) {
        const zone = await findZone(db);
        for await (const invoices of listAllInvoices(db, { accountId, now: now(), zone }))
          yield invoices.map((invoice) => {
            const { number, status, isOverdue, signupId, currency, total, open, dueOn, email } = invoice;
            const described = describeListedInvoice(invoice);
            const facts = [
              ...[number, isOverdue ? 'overdue' : status, signupId, formatAmount(total, currency)],
              ...[open > 0 && `open ${formatAmount(open, currency)}`, `due ${dueOn}`, email ?? 'erased'],
            ];
            return { states: [status, ...(isOverdue ? ['overdue'] : [])], described, facts };
          });
      }),
    );
}

type ListOptions = { state?: string; account?: string; json: boolean };

type Listed = { states: string[]; described: object; facts: (string | false | null)[] };

/**
 * Prints the rows of a state and account. If there are none, prints `nothing` to stderr, so that scripts do not count it as a
 * row.
 */
const list = (
  { state, account, json: isJson }: ListOptions,
  nothing: string,
  read: (db: Database, accountId: string | undefined) => AsyncGenerator<Listed[], void>,
): Promise<void> =>
  withDatabase(async (db) => {
    const owner = account === undefined ? undefined : await requireUser(db, { email: account });
    const out = writeLinesOut();
    let isEmpty = true;
    for await (const slice of read(db, owner?.account.id))
      for (const { states, described, facts } of slice) {
        if (state !== undefined && !states.includes(state)) continue;
        isEmpty = false;
        await out.write(
          isJson
            ? writeJson(described)
            : facts
                .filter((fact) => fact)
                .map((fact) => show(String(fact)))
                .join('  '),
        );
      }
    if (isEmpty && !isJson) printAside(nothing);
  });

async function writeFolder(
  db: Database,
  { from, to, out }: { from: string; to: string; out: string },
): Promise<Record<BookName, number>> {
  const writers = new Map<BookName, LineWriter>();
  const write = async (name: BookName, records: string[][]) => {
    if (writers.size === 0) {
      await requireEmptyFolder(out);
      for (const each of bookNames) writers.set(each, await openLineWriter(`${out}/${each}`));
    }
    // The writer adds the last line break itself.
    await writers.get(name)?.write(writeCsv(records).slice(0, -1));
  };
  try {
    return await exportBooks(db, { from, to }, write);
  } catch (error) {
    throw error instanceof AppError ? new UsageError(describeRefusal(error)) : error;
  } finally {
    for (const writer of writers.values()) await writer.close();
  }
}

function explainPreview(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  throw new CommandError(
    error.code === 'not_found'
      ? 'There is no contract for this signup.'
      : 'There is no seller yet. Set one first.',
  );
}

type Forecast = Awaited<ReturnType<typeof readPreview>>['documents'][number];

const describeForecast = ({ currency, ...forecast }: Forecast) =>
  [
    forecast.issued_on,
    `${forecast.period_first_day} to ${forecast.period_last_day}`,
    `net ${formatAmount(forecast.net, currency)}`,
    `tax ${formatAmount(forecast.tax, currency)} (${forecast.category} ${(forecast.rate / 100).toFixed(2)} %)`,
    `total ${formatAmount(forecast.total, currency)}`,
  ].join('  ');
