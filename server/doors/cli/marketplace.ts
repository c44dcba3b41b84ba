import { SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { dryRunImport, importProfiles, maxLineLength } from '../../marketplace/import.ts';
import {
  countLines,
  describeLine,
  describeSummary,
  type LineResult,
} from '../../marketplace/import-report.ts';
import { openLines, openLineWriter, requireOtherFile, writeLinesOut } from '../../runtime/files.ts';
import { environment, onStopSignal, print, printAside } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { buildHandOffUrl } from '../demo/legacy-marketplace.ts';
import { now, withDatabase } from './command.ts';

export function addMarketplaceCommands(program: Command): void {
  program
    .command('marketplace:link')
    .description('print a valid hand-off URL of the legacy marketplace, for tests and demonstrations')
    .requiredOption('--email <address>')
    .requiredOption('--id <id>', "the user's id at the marketplace")
    .option('--name <name>', "the person's name", 'Marketplace User')
    .option('--account <name>', "the account's name")
    .addOption(new Option('--role <role>').choices(['customer', 'merchant', 'admin']).default('customer'))
    .option('--capabilities <names>', 'comma-separated', (text: string) => text.split(','), [] as string[])
    .option('--unverified', 'say that the marketplace has not verified the email address', false)
    .option('--return-to <path>', 'where the person goes afterwards')
    .action(async (options) => {
      const user = {
        ...options,
        accountName: options.account,
        emailVerified: !options.unverified,
        profileUpdatedAt: now(),
      };
      print(await buildHandOffUrl(readConfig(environment), user, now()));
    });

  program
    .command('import')
    .description('import marketplace profiles, one JSON object per line; can be interrupted and run again')
    .argument('<file>', 'such as users.ndjson')
    .option('--dry-run', 'change nothing, and say what each line would do', false)
    .option('--report <file>', 'write to this file what each line does')
    .option('--json', 'say it as JSON, one object per line', false)
    .action(async (file: string, options: ReportOptions) => {
      let isStopped = false;
      const work = importFile(file, options, () => isStopped);
      onStopSignal(async () => {
        isStopped = true;
        await work;
      });
      await work;
    });
}

type ReportOptions = { dryRun: boolean; report?: string; json: boolean };

async function importFile(file: string, options: ReportOptions, isStopped: () => boolean): Promise<void> {
  const { dryRun: isDryRun, json: isJson } = options;
  const refusedFile = `${file}.refused.ndjson`;
  const toRead = { path: file, which: 'the one to be read' };
  if (!isDryRun) await requireOtherFile(refusedFile, [toRead]);
  if (options.report !== undefined)
    await requireOtherFile(options.report, [
      toRead,
      { path: refusedFile, which: 'the one for refused lines' },
    ]);
  const input = await openLines(file, maxLineLength);
  const refusedLines = isDryRun ? undefined : await openLineWriter(refusedFile);
  const out = writeLinesOut();
  const reportFile = options.report === undefined ? undefined : await openLineWriter(options.report);
  const report = reportFile ?? (isDryRun ? out : undefined);
  const { add, summary } = countLines();
  const bar = new SingleBar({
    format: '{bar} {percentage}% | {done} done, {refused} refused',
    hideCursor: true,
  });
  let done = 0;
  // If the report also goes to the terminal, a progress bar would overwrite its lines.
  if (report !== out) bar.start(input.size, 0, { done, refused: 0 });
  const onBatch = async (results: LineResult[]) => {
    add(results);
    for (const result of results) {
      const { line, id, kind, reason } = result;
      if (kind === 'refused') await refusedLines?.write(JSON.stringify({ line, id, reason }));
      else done++;
      await report?.write(isJson ? JSON.stringify(result) : describeLine(result));
    }
    bar.update(input.bytesRead(), { done, refused: summary.refused });
  };
  const run = isDryRun ? dryRunImport : importProfiles;
  const name = file.replace(/^.*[/\\]/, '');
  const config = readConfig(environment);
  await withDatabase((db) => run(db, input.lines, { config, now, name, isStopped, onBatch }), {
    isDryRun,
  }).finally(() => bar.stop());
  await refusedLines?.close();
  const end = isJson ? JSON.stringify({ summary }) : describeSummary(summary);
  await reportFile?.write(end);
  await reportFile?.close();
  await out.write(end);
  if (refusedLines && summary.refused > 0) printAside(`The refused lines are in ${refusedFile}.`);
  if (isStopped()) printAside(`Stopped before the end.${isDryRun ? '' : ' Run it again to continue.'}`);
}
