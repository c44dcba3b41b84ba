// Backs up the database (contract 9.310 to 9.319).
import type { Command } from 'commander';
import { withSnapshot } from '../../../db/backups.ts';
import { type Database, openDatabase } from '../../../db/postgres/client.ts';
import { recordAuditEvent } from '../../../db/tables/audit-events.ts';
import { listLastNumbers } from '../../../db/tables/document-series.ts';
import { findLastInvoiceNumber } from '../../../db/tables/invoices.ts';
import { dumpDatabase, findNewestDump } from '../../runtime/dump.ts';
import { print, printAside } from '../../runtime/process.ts';
import { booksTrailOf } from './act.ts';
import { now, withDatabaseUrl } from './command.ts';

export function addBackupCommand(program: Command): void {
  program
    .command('backup')
    .description('dump the database into a new folder, with the last numbers of documents beside it')
    .argument('<folder>', 'where that folder is made; it is made, too, if it is not there')
    .action((folder: string) =>
      withDatabaseUrl(async (url) => {
        const { db, close } = openDatabase({
          url,
          // One of the two connections keeps the snapshot open.
          poolSize: 2,
          preparedStatements: false,
          onError: () => undefined,
        });
        await backUp(db, url, folder).finally(close);
      }),
    );
}

async function backUp(db: Database, url: string, folder: string): Promise<void> {
  const before = await findNewestDump(folder, isName);
  let numbers = '';
  const { file, bytes, beganAt } = await withSnapshot(db, async ({ beganAt, major, snapshot }) => {
    const dump = await dumpDatabase({ url, major, snapshot, folder, name: nameOf(beganAt) }, async () => {
      numbers = await writeLastNumbers(db);
      return { 'last-numbers': `${numbers}\n` };
    });
    return { ...dump, beganAt };
  });
  const details = { ...booksTrailOf({}).details, beganAt: beganAt.toISOString(), bytes };
  await recordAuditEvent(db, { type: 'database.backed_up', details }).catch((error) =>
    printAside(`The backup is whole, but the database could not be told of it (${error.code}).`),
  );
  print(`${file} is whole: ${sizeOf(bytes)}, as of ${ageOf(beganAt)} ago.`);
  print(numbers ? `The last numbers of documents: ${numbers}.` : 'There are no documents yet.');
  if (before) print(`The one before is ${ageOf(timeOf(before.name))} old: ${sizeOf(before.bytes)}.`);
}

/** Writes the last document numbers as arguments of `database:restored`. The text is empty if no document was ever issued. */
async function writeLastNumbers(db: Database): Promise<string> {
  const numbers = await listLastNumbers(db).catch(withoutTable([]));
  const invoice = await findLastInvoiceNumber(db).catch(withoutTable(0));
  return [
    ...(numbers.length > 0 ? ['--last', ...numbers] : []),
    ...(invoice > 0 ? ['--last-invoice', invoice] : []),
  ].join(' ');
}

/**
 * Returns a function that handles an error. If the database is of a version that lacks the table, the function returns `value`.
 * Otherwise it throws the error.
 */
const withoutTable =
  <T>(value: T) =>
  (error: { code?: string }): T => {
    if (error.code === '42P01') return value;
    throw error;
  };

/** Builds a name such as 20261128T031500.123Z. Such names sort by time. */
const nameOf = (at: Date) => at.toISOString().replaceAll(/[-:]/g, '');
const isName = (name: string) => /^\d{8}T\d{6}\.\d{3}Z$/.test(name);
const timeOf = (name: string) => new Date(name.replace(/^(....)(..)(..)T(..)(..)(.*)$/, '$1-$2-$3T$4:$5:$6'));

const sizeOf = (bytes: number) => `${(bytes / 1e6).toFixed(1)} MB`;

function ageOf(at: Date): string {
  const seconds = Math.max(0, Math.round((now().getTime() - at.getTime()) / 1_000));
  const [unit, length] = units.find(([, length]) => seconds >= 2 * length) ?? ['second', 1];
  return Math.round(seconds / length).toLocaleString('en', { style: 'unit', unit, unitDisplay: 'long' });
}

const units: [string, number][] = [
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
];
