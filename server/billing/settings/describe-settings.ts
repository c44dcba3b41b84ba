// The settings of billing for whoever looks after them (contract 7.121): what counts, what will, and the versions before.
import type { Database } from '../../../db/postgres/client.ts';
import { listNames } from '../../../db/tables/staff-views.ts';
import { digestBasis } from '../../acts/act.ts';
import { basisOf, findVersions, type Versions } from './set-settings.ts';
import type { BillingSettings } from './settings.ts';

type Version = Versions['newest'][number];

const shownVersions = 30;

/** `seen` is what a form about the settings is made from now; `people` are those who made versions. */
export async function describeSettings(db: Database) {
  const versions = await findVersions(db, shownVersions + 1);
  const { inForce, pending, newest } = versions;
  const ids = newest.flatMap(({ actorId }) => (actorId === null ? [] : [actorId]));
  return {
    inForce: inForce ? describeVersion(inForce) : null,
    pending: pending ? describeVersion(pending) : null,
    versions: newest.slice(0, shownVersions).map(({ settings, hasBegun: _, ...version }, at) => ({
      ...version,
      state: stateOf(versions, version),
      changed: listChanges(newest[at + 1]?.settings, settings),
    })),
    people: await listNames(db, [...new Set(ids)]),
    seen: digestBasis(basisOf(versions)),
  };
}

const describeVersion = ({ version, settings, countsFrom, madeAt, madeBy, actorId, why }: Version) => ({
  version,
  countsFrom,
  madeAt,
  madeBy,
  actorId,
  why,
  settings,
});

function stateOf(
  { inForce, pending }: Versions,
  { version, stoppedAt }: Pick<Version, 'version' | 'stoppedAt'>,
): 'stopped' | 'in_force' | 'pending' | 'replaced' {
  if (stoppedAt) return 'stopped';
  if (version === inForce?.version) return 'in_force';
  return version === pending?.version ? 'pending' : 'replaced';
}

/** The members, such as `seller.iban`, that differ from the one before; empty for the first. */
function listChanges(before: BillingSettings | undefined, settings: BillingSettings): string[] {
  if (!before) return [];
  const [old, present] = [flatten(before), flatten(settings)];
  return [...new Set([...old.keys(), ...present.keys()])].filter(
    (name) => old.get(name) !== present.get(name),
  );
}

const flatten = (settings: BillingSettings): Map<string, string> =>
  new Map(
    Object.entries(settings).flatMap(([part, members]) =>
      Object.entries(members).flatMap(([name, value]): [string, string][] =>
        value === undefined ? [] : [[`${part}.${name}`, JSON.stringify(value)]],
      ),
    ),
  );
