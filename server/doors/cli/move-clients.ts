// Runs the commands client:adopt and client:rebind (contract 13.90 to 13.96).
import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { listIssuers } from '../../../db/tables/clients.ts';
import { AppError } from '../../basics/errors.ts';
import type { Rebound } from '../../clients/move.ts';
import { endWith, environment, print } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { adopt, rebind } from '../../staff/move-clients.ts';
import { addReason, contextOf, originOf, type Reason, toJson } from './act.ts';
import { CommandError, describeRefusal, show, UsageError, withDatabase, writeJson } from './command.ts';

export function addMoveCommands(program: Command): void {
  const adopting = program
    .command('client:adopt')
    .description(
      'copy a client of the settings into the database, with its secrets, so that it can move there',
    )
    .argument('<name>', 'of a client that the settings name');
  addReason(adopting, { isRequired: true }).action(async (name: string, options: Reason) => {
    print(await withDatabase((db) => runAdopt(db, name, options)));
  });

  const rebinding = program
    .command('client:rebind')
    .description('move the clients in the database to the present IDENTITY_ISSUER, once that has changed')
    .requiredOption('--from <issuer>', 'the IDENTITY_ISSUER under which they were added');
  addReason(rebinding, { isRequired: true }).action(async (options: Reason & { from: string }) => {
    const { from, json } = options;
    const { issuer } = readConfig(environment);
    if (from === issuer) throw new UsageError(`IDENTITY_ISSUER is ${issuer} still: change it first.`);
    const { result, others } = await withDatabase(async (db) => ({
      result: await runRebind(db, options),
      others: (await listIssuers(db)).filter((each) => each !== from && each !== issuer),
    }));
    const { moved, unreadable, taken, misaddressed } = result;
    const done = moved.length > 0;
    print(
      json
        ? writeJson({ done, intent: 'rebind', from, to: issuer, ...result })
        : show(describeRebound(result, { from, issuer, others })),
    );
    if (unreadable.length + taken.length + misaddressed.length > 0) endWith(1);
  });
}

async function runAdopt(db: Database, name: string, options: Reason): Promise<string> {
  const config = readConfig(environment);
  const adopted = await inTransaction(db, originOf('client:adopt', options), (trx) =>
    adopt(contextOf(trx, config, options), name),
  ).catch((error) => {
    if (!(error instanceof AppError)) throw error;
    const faults = error.errors.length > 0 ? error.errors.map(({ detail }) => detail) : [error.detail];
    throw new CommandError([...faults.map(show), 'Nothing was done.'].join('\n'));
  });
  if (options.json) return toJson('adopt', adopted !== undefined, name);
  if (!adopted) return show(`Client ${name} is in the database as the settings say already.`);
  const secrets = adopted.endsSecrets ? ' The secrets that it had there have ended.' : '';
  const logo = adopted.hasLogo ? ' Its logo stays behind: clients in the database have none.' : '';
  return show(
    `Client ${name} is in the database, with its secrets. The settings still count: take it out of SSO_CLIENTS and restart one instance after the other. At each instance that no longer names it, the client in the database counts.${secrets}${logo}`,
  );
}

async function runRebind(db: Database, options: Reason & { from: string }): Promise<Rebound> {
  const config = readConfig(environment);
  return inTransaction(db, originOf('client:rebind', options), (trx) =>
    rebind(contextOf(trx, config, options), options.from),
  ).catch((error) => {
    throw error instanceof AppError ? new CommandError(describeRefusal(error)) : error;
  });
}

function describeRebound(
  { moved, unreadable, taken, misaddressed }: Rebound,
  { from, issuer, others }: { from: string; issuer: string; others: string[] },
): string {
  const said = [
    moved.length > 0
      ? `Moved to ${issuer}: ${moved.join(', ')}.`
      : `No client was moved from ${from} to ${issuer}.`,
  ];
  if (unreadable.length > 0)
    said.push(
      `No key opens the secrets of ${unreadable.join(', ')}: left where they are. Give IDENTITY_ENCRYPTION_KEY the older key, too, and run this again.`,
    );
  if (taken.length > 0)
    said.push(`Clients under ${issuer} already have these names: ${taken.join(', ')}. Left where they are.`);
  if (misaddressed.length > 0)
    said.push(`Addresses of ${misaddressed.join(', ')} are not allowed here. Left where they are.`);
  if (moved.length === 0 && others.length > 0)
    said.push(`There are clients that were added under ${others.join(', ')}.`);
  return said.join(' ');
}
