// Describes the billing settings to administrators (contract 7.121): the settings in force, the pending settings, and the earlier
// versions.
import type { Database } from '../../../db/postgres/client.ts';
import { listNames } from '../../../db/tables/staff-views.ts';
import { digestBasis } from '../../acts/act.ts';
import { memberStates, nameCountry } from '../values/countries.ts';
import { formatPercent } from '../values/decimals.ts';
import { basisOf, findVersions, type Versions } from './set-settings.ts';
import { type BillingSettings, writeSettings } from './settings.ts';

type Version = Versions['newest'][number];

const shownVersions = 30;

/** `people` are the people who made the versions. A form sends `seen` back, so that it cannot overwrite a later change. */
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

const describeVersion = ({ hasBegun: _hasBegun, stoppedAt: _stoppedAt, settings, ...version }: Version) => ({
  ...version,
  settings: writeSettings(settings),
  tax: describeTax(settings),
});

/**
 * Returns the tax rules in words, in the order of the settings. After the rules come the countries of the EU that have no rule
 * of their own (contract 7.546 and 7.547).
 */
export function describeTax({ tax: { rules } }: Pick<BillingSettings, 'tax'>): string[] {
  const lines = rules.map(({ country, rate, category, words, from }) => {
    const taxed = category === 'S' ? `${formatPercent(rate)} %` : `no tax (${category}: ${words})`;
    return `${country === '*' ? 'All others' : nameCountry(country)}: ${taxed}, from ${from}`;
  });
  const own = new Set(rules.map(({ country }) => country));
  const others = memberStates.filter((country) => !own.has(country)).map(nameCountry);
  return others.length > 0
    ? [...lines, `EU countries without a rule of their own, so taxed as “All others”: ${others.join(', ')}`]
    : lines;
}

function stateOf(
  { inForce, pending }: Versions,
  { version, stoppedAt }: Pick<Version, 'version' | 'stoppedAt'>,
): 'stopped' | 'in_force' | 'pending' | 'replaced' {
  if (stoppedAt) return 'stopped';
  if (version === inForce?.version) return 'in_force';
  return version === pending?.version ? 'pending' : 'replaced';
}

/** Returns the members that differ from the earlier version, such as `seller.iban`. The list is empty for the first version. */
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
