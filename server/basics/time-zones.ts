// Time zones by their IANA names, and times in them.

/** An offset such as +01:00 has no summer time, and IST and CST are ambiguous. So only names of regions and UTC are accepted. */
const isZoneName = (name: string) => /^(?:UTC|(?!SystemV\/)[A-Za-z]\w*(?:\/[\w+-]+)+)$/i.test(name);

/** Today's names of zones that Intl still calls by an earlier one. */
const names: Record<string, string> = {
  'America/Godthab': 'America/Nuuk',
  'Asia/Calcutta': 'Asia/Kolkata',
  'Asia/Katmandu': 'Asia/Kathmandu',
  'Asia/Rangoon': 'Asia/Yangon',
  'Asia/Saigon': 'Asia/Ho_Chi_Minh',
  'Atlantic/Faeroe': 'Atlantic/Faroe',
  'Europe/Kiev': 'Europe/Kyiv',
};

const toName = (zone: string) => names[zone] ?? zone;

/** Returns one name for all spellings of a zone. Returns undefined if this runtime does not know the zone. */
export function findTimeZone(text: string): string | undefined {
  if (!isZoneName(text) || text.length > 64) return undefined;
  try {
    return toName(new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone);
  } catch {
    return undefined;
  }
}

export const timeZones: string[] = ['UTC', ...Intl.supportedValuesOf('timeZone').map(toName).sort()].filter(
  (zone, place, all) => isZoneName(zone) && all.indexOf(zone) === place,
);

/** Writes a time in words. It is in UTC if no zone is given, or if only the runtime of another instance knows the zone. */
export const sayInstant = (at: Date, timeZone: string | null): string =>
  new Intl.DateTimeFormat('en-GB', {
    ...{ day: 'numeric', month: 'long', year: 'numeric', hour: '2-digit', minute: '2-digit' },
    timeZone: findTimeZone(timeZone ?? '') ?? 'UTC',
    timeZoneName: 'short',
  }).format(at);
