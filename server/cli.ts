// The command line (`npm run cli -- <command>`): what operators do that has no page. It works on the same
// settings and database as the service.
import { SingleBar } from 'cli-progress';
import { Command, InvalidArgumentError, Option } from 'commander';
import { v7 as uuidv7 } from 'uuid';
import { insertAccount } from '../db/accounts.ts';
import { recordAuditEvent } from '../db/audit-events.ts';
import { type Database, isDatabaseAway, openDatabase } from '../db/client.ts';
import { startEmbeddedPostgres } from '../db/embedded.ts';
import { EmbeddedPostgresError } from '../db/embedded-files.ts';
import { migrate } from '../db/migrate.ts';
import { type InternalRole, insertUser, setUserSuspended } from '../db/users.ts';
import { readConfig } from './config.ts';
import { buildMarketplaceLink } from './demo/legacy-marketplace.ts';
import { readEmailAddress } from './identity/email-address.ts';
import { importProfiles } from './identity/import.ts';
import { nameSchema } from './identity/names.ts';
import { hashPassword, newPasswordSchema } from './identity/passwords.ts';
import { FileError, openLines, openLineWriter } from './runtime/files.ts';
import { environment, exitWith, onStopSignal, print, readInput } from './runtime/process.ts';
import { ConfigError } from './settings-reader.ts';

/** Told to the operator in a sentence. */
class CommandError extends Error {}

const program = new Command('npm run cli --')
  .description('The command line of the identity service')
  .showHelpAfterError();

program
  .command('migrate')
  .description('bring the database to the present schema (the service does it at its start, too)')
  .action(() => withDatabase(async () => print('The database is at the present schema.')));

program
  .command('user:create')
  .description('create a user with an account of its own; the password is read from standard input')
  .requiredOption('--email <address>', 'taken as verified', readEmail)
  .requiredOption('--name <name>', 'of the person', readName)
  .option('--account <name>', 'name of the account (default: that of the person)', readName)
  .addOption(new Option('--role <role>').choices(['user', 'manager', 'admin']).default('user'))
  .action(async (options: { email: string; name: string; account?: string; role: InternalRole }) => {
    const password = await newPasswordSchema.safeParseAsync((await readInput()).replace(/\r?\n$/, ''));
    if (!password.success) throw new CommandError(password.error.issues[0]?.message ?? 'not a password');
    const passwordHash = await hashPassword(password.data);
    const [id, accountId] = [uuidv7(), uuidv7()];
    await withDatabase((db) =>
      db.transaction().execute(async (trx) => {
        const name = options.account ?? options.name;
        await insertAccount(trx, { id: accountId, name, capabilities: [], verifiedAt: null });
        const { email, role } = options;
        const user = {
          id,
          accountId,
          email,
          name: options.name,
          role,
          passwordHash,
          emailVerifiedAt: new Date(),
        };
        await insertUser(trx, user).catch((error) => {
          if (error.constraint !== 'users_email_key') throw error;
          throw new CommandError('There is a user with this e-mail address already.');
        });
        await recordAuditEvent(trx, { type: 'user.created', userId: id, details: { role, by: 'cli' } });
      }),
    );
    print(id);
  });

program
  .command('user:suspend')
  .description('suspend a user; its sessions end at once')
  .argument('<email>', '', readEmail)
  .action((email: string) => suspend(email, new Date()));

program
  .command('user:resume')
  .description('lift a suspension')
  .argument('<email>', '', readEmail)
  .action((email: string) => suspend(email, null));

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

async function suspend(email: string, at: Date | null): Promise<void> {
  await withDatabase((db) =>
    db.transaction().execute(async (trx) => {
      const userId = await setUserSuspended(trx, email, at);
      if (!userId) throw new CommandError('There is no user with this e-mail address.');
      await recordAuditEvent(trx, {
        type: at ? 'user.suspended' : 'user.resumed',
        userId,
        details: { by: 'cli' },
      });
    }),
  );
  print(at ? `${email} is suspended.` : `${email} can log in again.`);
}

async function withDatabase<T>(work: (db: Database) => Promise<T>): Promise<T> {
  const config = readConfig(environment);
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres(config.embeddedDatabaseFolder);
  const database = openDatabase({
    url: config.databaseUrl ?? embedded?.url ?? '',
    poolSize: 2,
    preparedStatements: config.databasePreparedStatements,
    onError: () => undefined,
  });
  try {
    await migrate(database.db);
    return await work(database.db);
  } finally {
    await database.close();
    await embedded?.stop();
  }
}

function readEmail(text: string): string {
  const email = readEmailAddress(text);
  if (!email) throw new InvalidArgumentError('Not an e-mail address.');
  return email;
}

function readName(text: string): string {
  const name = nameSchema.safeParse(text);
  if (!name.success) throw new InvalidArgumentError(name.error.issues[0]?.message ?? 'Not a name.');
  return name.data;
}

const toldInASentence = [FileError, ConfigError, EmbeddedPostgresError, CommandError];

await program.parseAsync().catch((error) => {
  if (toldInASentence.some((kind) => error instanceof kind)) exitWith(error.message);
  if (isDatabaseAway(error)) exitWith(`The database cannot be reached (${error.code ?? error.message}).`);
  exitWith(`This did not work. ${error instanceof Error ? error.stack : String(error)}`);
});
