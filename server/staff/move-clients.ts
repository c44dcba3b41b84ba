// Moves clients into the database from the settings, and to this issuer from another one (contract 13.90 to 13.96).
import { type ClientFacts, lockClients } from '../../db/tables/clients.ts';
import { readFields } from '../acts/fields.ts';
import { AppError, invalidMember } from '../basics/errors.ts';
import { adoptClient, type Rebound, rebindClients } from '../clients/move.ts';
import { findNameFault } from '../clients/rows.ts';
import { namesOfKnown, prefixOf } from '../settings/clients.ts';
import { audiences, roles } from '../sso/clients.ts';
import { listNames } from './apply-clients.ts';
import { audit, type Context, warn } from './client-acts.ts';
import { addFields, factsOf, spellFacts } from './client-fields.ts';

/**
 * Spells an address as `URL` does. Addresses in rows must be spelled in this way, but addresses in the settings may be spelled
 * in another way.
 */
const spellAddress = (url: string | undefined) => url && new URL(url).href;

const ends: Record<string, string> = {
  ...{ title: 'TITLE', callback: 'CALLBACK_URL', loginUrl: 'LOGIN_URL', eventsUrl: 'EVENTS_URL' },
};

const refuseName = (detail: string) => invalidMember('/client', detail);

/**
 * Copies a client of the settings into a row, with its secrets. Returns undefined if the row matches already. `endsSecrets` is
 * true if the secrets of the settings have replaced other secrets of the row. Throws 422 `validation_failed` with everything
 * that a row may not have.
 */
export async function adopt(
  context: Context,
  name: string,
): Promise<{ hasLogo: boolean; endsSecrets: boolean } | undefined> {
  const { trx, deps } = context;
  const client = deps.config.clients.get(name);
  if (!client) throw refuseName(`The settings name no client ${name}.`);
  if (namesOfKnown.includes(name))
    throw refuseName(
      `The client ${name} is built in. Other parts of the service need its settings, so it stays there.`,
    );
  if (findNameFault(name, { clients: new Map() }))
    throw refuseName(
      `Pages and commands use the word ${name}, so no client of the database can have this name.`,
    );
  await lockClients(trx);
  const given = {
    title: client.title,
    callback: spellAddress(client.callbackUrl),
    loginUrl: spellAddress(client.loginUrl),
    eventsUrl: spellAddress(client.eventsUrl),
    listed: audiences.filter((word) => client.listedTo.includes(word)).join(','),
    roles: roles.filter((word) => client.roles.includes(word)).join(','),
    factor: client.needsFactor ? 'required' : 'optional',
  };
  // The field `client` is left out. It refuses the names of clients in the settings, and this client is in the settings.
  const { client: _name, ...fields } = addFields;
  const read = await readFields(fields, given, { ...deps, db: trx, thing: {} }).catch((error) => {
    if (!(error instanceof AppError)) throw error;
    const errors = error.errors.map(({ pointer, detail }) => ({
      pointer,
      detail: `${prefixOf(name)}_${ends[pointer.slice(1)]}: ${detail}`,
    }));
    throw new AppError('validation_failed', { errors });
  });
  const facts = factsOf(read) as ClientFacts;
  const adopted = await adoptClient(trx, deps, { client, facts });
  if (!adopted) return undefined;
  const { replaced } = adopted;
  if (!replaced)
    audit(context, 'staff.add_client', {
      ...{ client: name, adopted: true, now: { kind: client.kind, ...spellFacts(facts) } },
    });
  else
    audit(context, 'staff.set_client', {
      ...{ client: name, adopted: true },
      ...{ was: spellFacts(replaced.change?.was ?? {}), now: spellFacts(replaced.change?.now ?? {}) },
      ...{ secrets: replaced.hasNewSecrets, on: replaced.isOn, confirmed: replaced.isConfirmed },
    });
  await warn(context, name, 'adopt');
  return { hasLogo: client.logoPath !== undefined, endsSecrets: replaced?.hasNewSecrets ?? false };
}

/** Moves the clients of another issuer to the present one. */
export async function rebind(context: Context, from: string): Promise<Rebound> {
  const { trx, deps } = context;
  await lockClients(trx);
  const result = await rebindClients(trx, deps, from);
  for (const client of result.moved)
    audit(context, 'staff.set_client', {
      ...{ client, was: { issuer: from }, now: { issuer: deps.config.issuer } },
    });
  if (result.moved.length > 0) await warn(context, listNames(result.moved), 'rebind');
  return result;
}
