import type { describePerson, listWouldGet } from '../../staff/person.ts';
import { describeEvent } from './audit.ts';
import { show } from './command.ts';
import { describeChange } from './history.ts';

type Shown = Awaited<ReturnType<typeof describePerson>> & { wouldGet: ReturnType<typeof listWouldGet> };

/** Prints facts first, then each list with one row on each line. */
export function describePersonInLines({ account, activity, history, authors, ...person }: Shown): string {
  const lines = (rows: Record<string, unknown>) =>
    Object.entries(rows).flatMap(([name, value]) => describe(toWords(name), value));
  return [
    ...lines(person),
    'account:',
    ...lines(account).map(indent),
    'history:',
    ...history.map((change) => indent(describeChange(change))),
    'activity:',
    ...activity.map((event) => indent(describeEvent(event, authors))),
  ].join('\n');
}

function describe(name: string, value: unknown): string[] {
  if (!Array.isArray(value)) return [`${name}: ${say(value)}`];
  if (value.length === 0) return [`${name}: none`];
  if (typeof value[0] !== 'object') return [`${name}: ${value.map(say).join(', ')}`];
  return [`${name}:`, ...value.map((row) => indent(say(row)))];
}

const indent = (line: string) => `  ${line}`;

/** Writes a name such as `emailVerifiedAt` in words, as "email verified at". */
const toWords = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);

function say(value: unknown): string {
  if (value === null || value === undefined) return 'none';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (value instanceof Date) return value.toISOString();
  if (Array.isArray(value)) return value.map(say).join(' ') || 'none';
  if (typeof value !== 'object') return show(String(value));
  const members = Object.entries(value)
    .filter(([, member]) => member !== null && member !== undefined)
    .map(([name, member]) => `${toWords(name)} ${sayWithin(member)}`);
  return members.join(', ') || 'none';
}

/** Writes a row within a row as JSON, such as the profile that a client would get. */
const sayWithin = (value: unknown) =>
  typeof value === 'object' && !(value instanceof Date) && !Array.isArray(value)
    ? show(JSON.stringify(value))
    : say(value);
