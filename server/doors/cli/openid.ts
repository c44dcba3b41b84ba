// Runs the command oidc:rotate-keys (contract 14.83).
import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import { makeKey, rotateKeys } from '../../clients/keys.ts';
import { environment, print } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { addReason, booksTrailOf, originOf, type Reason } from './act.ts';
import { now, withDatabase, writeJson } from './command.ts';

type Options = Reason & { revoke: boolean };

export function addOpenIdCommands(program: Command): void {
  const rotating = program
    .command('oidc:rotate-keys')
    .description('sign ID tokens with another key from now on')
    .option('--revoke', 'also end all other keys: nothing that they signed counts any more', false);
  addReason(rotating, { isRequired: true }).action(async (options: Options) => {
    const { issuer, kid, revoked } = await withDatabase((db) => rotate(db, options));
    const said = `ID tokens of ${issuer} are signed with the key ${kid} within two seconds.`;
    const ended = options.revoke ? ` Keys that have ended: ${revoked.length}.` : '';
    print(
      options.json
        ? writeJson({ done: true, intent: 'rotate-keys', issuer, kid, revoked })
        : `${said}${ended}`,
    );
  });
}

async function rotate(
  db: Database,
  options: Options,
): Promise<{ issuer: string; kid: string; revoked: string[] }> {
  const config = readConfig(environment);
  const key = await makeKey(config, now());
  const { kid } = key;
  return inTransaction(db, originOf('oidc:rotate-keys', options), async (trx) => {
    const revoked = await rotateKeys(trx, config, key, { revokes: options.revoke });
    const { details, ...trail } = booksTrailOf(options);
    deferAuditEvent(trx, { ...trail, type: 'oidc.rotated_keys', details: { ...details, kid, revoked } });
    return { issuer: config.issuer, kid, revoked };
  });
}
