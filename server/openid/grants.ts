// Decides what a code and an access token allow at this moment.
import type { Grant } from '../../db/tables/oidc-grants.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { decideEntry } from '../identity/person/entry.ts';
import { mustSetUpFactor } from '../identity/session/second-factor.ts';
import type { OpenIdClient } from '../sso/clients.ts';

/** 12 hours, or less if the session ends earlier. */
export const tokenSeconds = 12 * 60 * 60;

/** Returns whether the person may still enter the client, by the rules of a launch. */
export function mayHave(
  { config }: Pick<Dependencies, 'config'>,
  client: OpenIdClient,
  grant: Grant,
): boolean {
  const state = mustSetUpFactor(config, grant) ? ('must_set_up_factor' as const) : ('live' as const);
  return typeof decideEntry(client, { ...grant, state }, { authAfter: 0 }) === 'object';
}
