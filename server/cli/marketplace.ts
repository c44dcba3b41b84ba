// The migration from the legacy marketplace: URLs of hand-offs, and the importer.
import { SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { buildHandOffUrl } from '../demo/legacy-marketplace.ts';
import { importProfiles } from '../marketplace/import.ts';
import { openLines, openLineWriter } from '../runtime/files.ts';
import { environment, onStopSignal, print } from '../runtime/process.ts';
import { readConfig } from '../settings/config.ts';
import { withDatabase } from './command.ts';

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
        profileUpdatedAt: new Date(),
      };
      print(await buildHandOffUrl(readConfig(environment), user, new Date()));
    });

  program
    .command('import')
    .description('import marketplace profiles, one JSON object per line; can be interrupted and run again')
    .argument('<file>', 'such as users.ndjson')
    .action(async (file: string) => {
      let isStopped = false;
      const work = importFile(file, () => isStopped);
      onStopSignal(async () => {
        isStopped = true;
        await work;
      });
      await work;
    });
}

async function importFile(file: string, isStopped: () => boolean): Promise<void> {
  const input = await openLines(file);
  const refusedFile = `${file}.refused.ndjson`;
  const output = openLineWriter(refusedFile);
  const bar = new SingleBar({
    format: '{bar} {percentage}% | {done} done, {refused} refused',
    hideCursor: true,
  });
  bar.start(input.size, 0, { done: 0, refused: 0 });
  const counts = await withDatabase((db) =>
    importProfiles(db, input.lines, {
      now: () => new Date(),
      isStopped,
      async onBatch({ refused, ...accepted }, refusedLines) {
        for (const refusedLine of refusedLines) await output.write(JSON.stringify(refusedLine));
        const done = Object.values(accepted).reduce((sum, count) => sum + count, 0);
        bar.update(input.bytesRead(), { done, refused });
      },
    }),
  ).finally(() => bar.stop());
  await output.close();
  const { created, linked, updated, stale, refused } = counts;
  print(
    `${created} created, ${linked} linked, ${updated} updated, ${stale} unchanged, ` +
      `${refused} refused${refused > 0 ? ` (see ${refusedFile})` : ''}.`,
  );
  if (isStopped()) print('Stopped before the end. Run it again to continue.');
}
