// The pages of clients (contract 13.110 to 13.117).
import { findClientRow } from '../../db/tables/clients.ts';
import { findLastLogOut } from '../../db/tables/staff-views.ts';
import { digestBasis } from '../acts/act.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { OpenIdClient } from '../sso/clients.ts';
import { type ActForm, buildForms } from './act-forms.ts';
import { listClients, type showRow } from './clients.ts';

/** Once a client is added, a form that was made before for the same name is out of date. */
export const listNewClientForms = (): ActForm[] =>
  buildForms('new_client', null, () => ({ seen: digestBasis(null) }));

const freshMs = 60_000;

/** `forms` is empty for a client of the settings. Throws 404 `not_found`. */
export async function getClient(deps: Dependencies, name: string) {
  const client = (await listClients(deps)).find((each) => each.name === name);
  if (!client) throw new AppError('not_found');
  const { row, launchedAt, pulledAt, takenAt, calls } = client;
  const openid =
    row?.redirectUris && row.state !== 'in_settings' ? await describeOpenId(deps, name, row) : null;
  const calledAt = calls.find(({ kind }) => kind === 'token')?.last?.at ?? null;
  const now = deps.now().getTime();
  const check = (at: Date | null) => ({ at, isFresh: at !== null && now - at.getTime() < freshMs });
  return {
    ...client,
    openid,
    checks: openid
      ? {
          launch: check(launchedAt),
          ...(openid.auth === 'secret' && { call: check(calledAt) }),
          ...(openid.backChannelUri !== null && { logOut: check(openid.loggedOutAt) }),
        }
      : {
          launch: check(launchedAt),
          call: check(calledAt),
          pull: check(pulledAt),
          ...(client.eventsUrl !== null && { webhook: check(takenAt) }),
        },
    forms: row ? buildForms('client', { ...client, ...row }, () => ({ seen: row.seen })) : [],
  };
}

type ShownRow = ReturnType<typeof showRow>;

/** What only clients of OpenID Connect have. `challengeAt`: since when a client with `state-only` sends a challenge. */
async function describeOpenId({ db, config }: Dependencies, name: string, row: ShownRow) {
  const id = (await findClientRow(db, { issuer: config.issuer, name }))?.id ?? '';
  const { redirectUris, postLogoutUris, backChannelUri = null, pkce, auth, challengeAt = null } = row;
  return {
    ...{ redirectUris: redirectUris ?? [], postLogoutUris: postLogoutUris ?? [], backChannelUri },
    ...{ pkce: pkce as OpenIdClient['pkce'], auth: auth as OpenIdClient['auth'], challengeAt },
    loggedOutAt: await findLastLogOut(db, id),
    // TODO(log-outs): what listGivenUp of db/tables/log-outs.ts returns.
    givenUp: [] as { at: Date; reason: string }[],
  };
}
