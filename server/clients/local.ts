// The clients that `--client` names at the start, in local mode (contract 13.100 to 13.105).
import { inTransaction } from '../../db/postgres/transactions.ts';
import { type ClientFacts, findClientRow, lockClients } from '../../db/tables/clients.ts';
import { AppError } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Config } from '../settings/config.ts';
import { localSecrets } from '../settings/secret-forms.ts';
import { roles } from '../sso/clients.ts';
import { hmacSha256 } from '../sso/hmac.ts';
import { findAddressFault } from './addresses.ts';
import { addClientWith, changeClient, confirm, findNameFault, keepSecrets, titleOf, turnOn } from './rows.ts';
import { spellSecret } from './secrets.ts';

/** The options of the start are wrong. The process exits with 2, and the message says what to correct. */
export class MisuseError extends Error {}

export type LocalClient = {
  name: string;
  addresses: Pick<ClientFacts, 'callbackUrl' | 'loginUrl' | 'eventsUrl'>;
  secret: string;
};

const form = 'Write it as NAME=CALLBACK, such as shop=http://localhost:4000/sso/callback.';

/** Reads `NAME=CALLBACK`. Throws a `MisuseError` that names every fault. */
export async function readLocalClients(asked: readonly string[], config: Config): Promise<LocalClient[]> {
  const faults: string[] = [];
  const found = new Map<string, string>();
  for (const text of asked) {
    const [, name, callbackUrl] = /^([^=]*)=(.+)$/s.exec(text) ?? [];
    const blame = (fault: string) => faults.push(`  --client ${JSON.stringify(text)}: ${fault}`);
    if (name === undefined || callbackUrl === undefined) {
      blame(form);
      continue;
    }
    const ofName = findNameFault(name, config);
    const ofCallback = findAddressFault(callbackUrl, { production: false, use: 'callback' });
    for (const fault of [ofName, ofCallback]) if (fault) blame(faultWords[fault]);
    if (found.has(name)) blame('This name is given twice.');
    found.set(name, callbackUrl);
  }
  if (faults.length > 0) throw new MisuseError(['These clients are wrong:', ...faults].join('\n'));
  return Promise.all(
    [...found].map(async ([name, callbackUrl]) => {
      const { origin } = new URL(callbackUrl);
      const addresses = { callbackUrl, loginUrl: `${origin}/login`, eventsUrl: `${origin}/sso/events` };
      return { name, addresses, secret: await deriveSecret(name) };
    }),
  );
}

/** Each start derives the same secret. Everybody can know it, because the secret that it is made from is built in. */
export async function deriveSecret(name: string): Promise<string> {
  const [key = new Uint8Array(), message = new Uint8Array()] = [
    localSecrets.IDENTITY_SSO_SECRET,
    `secret of client ${name}`,
  ].map((text) => new TextEncoder().encode(text));
  return spellSecret(await hmacSha256(key, message));
}

/** Returns what the client sets as `IDENTITY_URL`. No character of the secret needs an escape. */
export const spellIdentityUrl = ({ issuer }: Pick<Config, 'issuer'>, { name, secret }: LocalClient): string =>
  issuer.replace('://', `://${name}:${secret}@`);

/** Adds the rows, or changes them back to what was asked. Several instances may start at the same time. */
export async function keepLocalClients(
  deps: Pick<Dependencies, 'config' | 'db' | 'now'>,
  asked: readonly LocalClient[],
): Promise<void> {
  if (asked.length === 0) return;
  await inTransaction(deps.db, { by: 'service', cause: 'clients of the start' }, async (trx) => {
    await lockClients(trx);
    for (const { name, addresses, secret } of asked) {
      const row = await findClientRow(trx, { issuer: deps.config.issuer, name });
      if (!row) {
        const usual = { title: titleOf(name), listed: ['everybody'], roles: [...roles], needsFactor: false };
        await addClientWith(trx, deps, { name, kind: 'hand-off', facts: { ...usual, ...addresses } }, [
          secret,
        ]);
        continue;
      }
      if (row.kind !== 'hand-off') throw new MisuseError(`--client ${name}: ${faultWords.client_kind_other}`);
      await changeClient(trx, deps, row, addresses);
      await turnOn(trx, deps, row);
      await confirm(trx, deps, row);
      await keepSecrets(trx, deps, row, [secret]);
    }
  }).catch((error) => {
    throw error instanceof AppError && error.errors[0] ? new MisuseError(error.errors[0].detail) : error;
  });
}
