import { useId } from 'react';
import type { Refused } from '../../refused.ts';
import { Notice } from '../notice.tsx';
import { Section } from '../section.tsx';
import { Outcome } from './outcome.tsx';

type Props = {
  timeZone: string | null;
  names: string[];
  saved: string | null;
  refused: Refused | undefined;
};

/** The choice of a time zone (contract 2.169). */
export function TimeZone({ timeZone, names, saved, refused }: Props) {
  const id = useId();
  const error = refused?.errors.timeZone;
  return (
    <Section id="time-zone" title="Time zone" bare>
      <form method="post" className="card">
        <Outcome intent="time-zone" saved={saved} refused={refused}>
          Saved.
        </Outcome>
        <div className="field">
          <label htmlFor={id}>Show times in</label>
          <p className="hint" id={`${id}-hint`}>
            On these pages and in our emails. We do not share it with our products. The days of contracts and
            invoices stay the same.
          </p>
          <select
            id={id}
            name="timeZone"
            defaultValue={refused?.values.timeZone ?? timeZone ?? ''}
            aria-invalid={error ? true : undefined}
            aria-describedby={`${id}-hint${error ? ` ${id}-error` : ''}`}
            // biome-ignore lint/a11y/noAutofocus: people have to correct this field
            autoFocus={error !== undefined}
          >
            <option value="">Your browser’s, and UTC in emails</option>
            {groupZones(names, timeZone).map(([group, zones]) => (
              <optgroup key={group} label={group}>
                {zones.map((zone) => (
                  <option key={zone} value={zone}>
                    {sayZone(zone)}
                  </option>
                ))}
              </optgroup>
            ))}
          </select>
          <p className="error" id={`${id}-error`} role="alert" hidden={!error}>
            {error}
          </p>
        </div>
        <button type="submit" name="intent" value="time-zone">
          Set time zone
        </button>
      </form>
    </Section>
  );
}

/** Says the place alone, because keyboards and phones find an option by how it begins. */
const sayZone = (zone: string) => zone.slice(zone.indexOf('/') + 1).replaceAll('_', ' ');

/** Groups zones by continent. The saved zone is among them even if the list lacks it, because it may be an older name. */
function groupZones(names: string[], saved: string | null): [group: string, zones: string[]][] {
  const groups = new Map<string, string[]>();
  for (const zone of saved === null || names.includes(saved) ? names : [saved, ...names]) {
    const [group = zone] = zone.split('/');
    groups.set(group, [...(groups.get(group) ?? []), zone]);
  }
  return [...groups];
}

/** Offers the time zone of the browser (contract 2.171). app/enhance.js fills this in and shows it. */
export function TimeZoneOffer() {
  return (
    <form method="post" data-time-zone-offer hidden>
      <Notice kind="info">
        <p>
          Your browser is in the time zone <strong />. Shall we use it in our emails, too?
        </p>
        <input type="hidden" name="timeZone" />
        <button type="submit" name="intent" value="time-zone" className="secondary">
          Use this time zone
        </button>
      </Notice>
    </form>
  );
}
