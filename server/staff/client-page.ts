// The pages of clients (contract 13.110 to 13.117, and 14.90 to 14.97).
import { findClientRow } from '../../db/tables/clients.ts';
import { findLogOutTaken, listUntaken, type UntakenLogOut } from '../../db/tables/log-outs.ts';
import { digestBasis } from '../acts/act.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type ActForm, buildForms } from './act-forms.ts';
import { listClients } from './clients.ts';

/** If somebody has added the client since a form for its name was made, the form is out of date. */
export const listNewClientForms = (): ActForm[] =>
  buildForms('new_client', null, () => ({ seen: digestBasis(null) }));

const freshMs = 60_000;

const mostUntaken = 50;

async function readLogOuts(
  { db, config }: Dependencies,
  name: string,
): Promise<{ takenAt: Date | null; untaken: UntakenLogOut[] }> {
  const row = await findClientRow(db, { issuer: config.issuer, name });
  if (!row) return { takenAt: null, untaken: [] };
  const takenAt = (await findLogOutTaken(db, row.id)) ?? null;
  return { takenAt, untaken: await listUntaken(db, row.id, mostUntaken) };
}

/** `forms` is empty for a client of the settings. Throws 404 `not_found`. */
export async function getClient(deps: Dependencies, name: string) {
  const client = (await listClients(deps)).find((each) => each.name === name);
  if (!client) throw new AppError('not_found');
  const { row, launchedAt, pulledAt, takenAt, calls } = client;
  const openId = row?.kind === 'openid' && row.state !== 'in_settings' ? row : undefined;
  const logOuts = openId ? await readLogOuts(deps, name) : { takenAt: null, untaken: [] };
  const calledAt = calls.find(({ kind }) => kind === 'token')?.last?.at ?? null;
  const now = deps.now().getTime();
  const check = (at: Date | null) => ({
    at,
    isFresh: at !== null && now - at.getTime() < freshMs,
    isFailing: false,
  });
  return {
    ...client,
    checks: {
      launch: check(launchedAt),
      ...(openId?.auth !== 'none' && { call: check(calledAt) }),
      ...(!openId && { pull: check(pulledAt) }),
      ...(client.eventsUrl !== null && { webhook: check(takenAt) }),
      ...(openId?.backChannelUri && {
        logOut: { ...check(logOuts.takenAt), isFailing: logOuts.untaken.some(({ isWaiting }) => isWaiting) },
      }),
    },
    untaken: logOuts.untaken,
    forms: row ? buildForms('client', { ...client, ...row }, () => ({ seen: row.seen })) : [],
  };
}
