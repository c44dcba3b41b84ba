// Runs client:apply, the command for people who keep their set-up in git (contract 13.80 to 13.88).
import type { Command } from 'commander';
import type { Transaction } from 'kysely';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findClientRow, lockClients } from '../../../db/tables/clients.ts';
import { openSecret } from '../../clients/secrets.ts';
import { readWhole, writeSecretFile } from '../../runtime/files.ts';
import { environment, onStopSignal, print, printAside } from '../../runtime/process.ts';
import { type Config, readConfig } from '../../settings/config.ts';
import {
  type ClientFault,
  deedWords,
  maxFileKibibytes,
  type NewSecret,
  type Plan,
  performApply,
  planApply,
  readClientFile,
  type Step,
} from '../../staff/apply-clients.ts';
import { spellFacts } from '../../staff/client-fields.ts';
import { addReason, contextOf, originOf, type Reason } from './act.ts';
import { CommandError, now, show, UsageError, withDatabase, writeJson } from './command.ts';

type Options = Reason & { prune: boolean; dryRun: boolean; afterRestore: boolean; secretsTo?: string };

export function addApplyCommand(program: Command): void {
  const command = program
    .command('client:apply')
    .description('make the clients in the database as a file says: all of it, or nothing; can be repeated')
    .argument(
      '<file>',
      'JSON such as {"clients": [{"name": "shop", "callback": "https://shop.example.com/sso/callback"}]}; - for standard input',
    )
    .option(
      '--secrets-to <file>',
      'a new file for the secrets of new clients: one name, tab and secret a line',
    )
    .option('--prune', 'turn off clients in the database that the file does not name', false)
    .option('--after-restore', 'also confirm the clients that are as the file says', false)
    .option('--dry-run', 'change nothing, and say what would be done', false);
  addReason(command, { isRequired: true }).action(async (file: string, options: Options) => {
    const bytes = await readWhole(file, maxFileKibibytes);
    const work = withDatabase((db) => run(db, bytes, options), {
      isDryRun: options.dryRun,
      // Another command may apply a file at the same moment. This transaction waits for it.
      statementTimeoutMs: 60_000,
    });
    // If a signal stopped the command halfway, a file with secrets that do not work could remain. So a signal to stop waits
    // until the work is done.
    onStopSignal(async () => {
      await work;
    });
    await work;
  });
}

async function run(db: Database, bytes: Uint8Array, options: Options): Promise<void> {
  const config = readConfig(environment);
  const plan = options.dryRun
    ? await planFor({ config, now, db }, bytes, options)
    : await apply(db, config, bytes, options);
  print(options.json ? toJson(plan, options) : describePlan(plan, options));
}

type Deps = { config: Config; now: () => Date; db: Database };

async function planFor(deps: Deps, bytes: Uint8Array, options: Options): Promise<Plan> {
  const plan = await planApply(deps, await readClientFile(deps, bytes), options);
  if (plan.faults.length > 0)
    throw new CommandError([...plan.faults.map(describeFault), 'Nothing was done.'].join('\n'));
  return plan;
}

function describeFault({ entry, name, member, detail }: ClientFault): string {
  if (entry === undefined) return show(detail);
  const of = `Entry ${entry}${name === undefined ? '' : ` (${name})`}`;
  return show(`${of}${member === undefined ? '' : `, ${member}`}: ${detail}`);
}

type Written = { remove: () => Promise<void>; plan: Plan; first: NewSecret };

async function apply(db: Database, config: Config, bytes: Uint8Array, options: Options): Promise<Plan> {
  const { secretsTo = '' } = options;
  let written: Written | undefined;
  const work = async (trx: Transaction<DB>) => {
    // If another transaction came first, this is a second attempt, and the file of the first attempt still exists.
    await written?.remove();
    written = undefined;
    await lockClients(trx);
    const plan = await planFor({ config, now, db: trx }, bytes, options);
    if (secretsTo === '' && plan.steps.some(({ deeds }) => deeds.includes('add')))
      throw new UsageError(
        'New clients get secrets: say with --secrets-to where to write them. Nothing was done.',
      );
    const secrets = await performApply(contextOf(trx, config, options), plan);
    const [first] = secrets;
    if (first) {
      const lines = secrets.map(({ name, secret }) => `${name}\t${secret}\n`);
      written = { ...(await writeSecretFile(secretsTo, lines.join(''))), plan, first };
    }
    return plan;
  };
  const done = await inTransaction(db, originOf('client:apply', options), work).catch((error) => {
    if (!written) throw error;
    return settle(db, config, { ...written, path: secretsTo, error });
  });
  if (written) printAside(`The secrets of the new clients are in ${show(secretsTo)}.`);
  return done;
}

/** After an error, keeps the file only if its secrets work. The connection may have broken after the commit was sent. */
async function settle(
  db: Database,
  { issuer, encryptionKeys }: Config,
  { remove, plan, first: { name, secret }, path, error }: Written & { path: string; error: unknown },
): Promise<Plan> {
  const counts = await inTransaction(db, originOf('client:apply', {}), async (trx) => {
    // This lock waits for the broken transaction, which may still commit.
    await lockClients(trx);
    const row = await findClientRow(trx, { issuer, name });
    const opened = row?.secrets.map(({ sealed }) => openSecret(encryptionKeys, row, sealed)) ?? [];
    return (await Promise.all(opened)).includes(secret);
  }).catch(() => {
    throw new CommandError(
      `The database did not say whether this was done. Once it is back, run client:apply --dry-run: if it would still add clients, delete ${show(path)}, because its secrets do not count.`,
    );
  });
  if (counts) return plan;
  await remove();
  throw error;
}

/** Returns the members that change, by their names in the file. */
function listChanges({ change }: Step) {
  const [was, present] = [spell(change?.was ?? {}), spell(change?.now ?? {})];
  return Object.keys(present).map((member) => ({ member, was: was[member], now: present[member] }));
}

function spell(facts: Parameters<typeof spellFacts>[0]): Record<string, unknown> {
  const { callback_url: callback, ...others } = spellFacts(facts);
  return { ...(callback !== undefined && { callback }), ...others };
}

const toJson = ({ steps, unconfirmed, same }: Plan, { dryRun }: Options) =>
  writeJson({
    ...{ done: steps.length > 0 && !dryRun, intent: 'apply', dry_run: dryRun },
    clients: steps.map((step) => ({ client: step.name, did: step.deeds, changes: listChanges(step) })),
    ...{ unconfirmed, same },
  });

function describePlan({ steps, unconfirmed, same }: Plan, { dryRun }: Options): string {
  const lines = steps.flatMap((step) => [
    `${step.name}: ${dryRun ? 'would be ' : ''}${step.deeds.map((deed) => deedWords[deed]).join(', ')}`,
    ...listChanges(step).map(
      (each) => `  ${each.member}: ${JSON.stringify(each.was)} → ${JSON.stringify(each.now)}`,
    ),
  ]);
  const waiting = unconfirmed.map(
    (name) =>
      `${name}: waits to be confirmed after a restore. Compare it with what you know, then run client:confirm`,
  );
  const end = `${same} ${same === 1 ? 'client is' : 'clients are'} as the file says already.`;
  return [...lines, ...waiting, end].map(show).join('\n');
}
