// The migration from the legacy marketplace: hand-off links and the importer.
import { SingleBar } from 'cli-progress';
import { type Command, Option } from 'commander';
import { readConfig } from '../config.ts';
import { buildMarketplaceLink } from '../demo/legacy-marketplace.ts';
import { importProfiles } from '../identity/import.ts';
import { openLines, openLineWriter } from '../runtime/files.ts';
import { environment, onStopSignal, print } from '../runtime/process.ts';
import { withDatabase } from './command.ts';

export function addMarketplaceCommands(program: Command): void {
  program
    .command('marketplace:link')
    .description('print a valid hand-off link of the legacy marketplace, for tests and demonstrations')
    .requiredOption('--email <address>')
    .requiredOption('--id <id>', "the marketplace's own identifier")
    .option('--name <name>', 'of the person', 'Marketplace User')
    .option('--account <name>', 'name of the account')
    .addOption(new Option('--role <role>').choices(['customer', 'merchant', 'admin']).default('customer'))
    .option('--capabilities <names>', 'comma-separated', (text: string) => text.split(','), [] as string[])
    .option('--unverified', 'the marketplace has not verified the address', false)
    .option('--return-to <path>', 'where to go afterwards')
    .action(async (options) => {
      const user = {
        ...options,
        accountName: options.account,
        emailVerified: !options.unverified,
        profileUpdatedAt: new Date(),
      };
      print(await buildMarketplaceLink(readConfig(environment), user, new Date()));
    });

  program
    .command('import')
    .description('import marketplace profiles, one JSON object a line; may be interrupted and run again')
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
  if (isStopped()) print('Stopped before the end; run it again to go on.');
}
