// A change in plain words for the person it is about. The words name nobody else, and no terms that only we understand.
import type { Change, Members, Subject, Value } from '../../../db/tables/changes.ts';
import { readSetTime } from '../../../db/tables/service-contracts.ts';
import { minorDigits } from '../../basics/currencies.ts';
import { sayDay } from '../../basics/day-words.ts';
import { sayInstant } from '../../basics/time-zones.ts';

/** `from` or `to` is null if there is no value. Both are null if the values alone would say too little. */
export type Detail = { what: string; from: string | null; to: string | null };

/**
 * Returns the last day of a contract, such as 2026-12-26, for the changed end of the contract. This function is passed in,
 * because only billing can work that day out.
 */
export type FindLastDayIn = (member: 'trial_ends_at' | 'cancels_at', at: Date) => string;

/** `timeZone` is the reader's. */
export type Reading = { findLastDay: FindLastDayIn; timeZone: string | null };

type Words = { what: string; say: (value: Value, reading: Reading) => string | null };

const text = (value: Value) => (value === null ? null : String(value));
const yesOrNo = (value: Value) => (value === null ? 'no' : 'yes');
const oneOf = (words: Record<string, string | null>) => (value: Value) => {
  const said = words[String(value)];
  return said === undefined ? text(value) : said;
};
export const describeCapability = (name: unknown) => String(name).replaceAll('_', ' ');
const names = (value: Value) =>
  Array.isArray(value) && value.length > 0 ? value.map(describeCapability).join(', ') : null;

// SQL by hand may set infinite times, and times outside the years 1 to 9999.
const readInstant = (value: Value) => (value === null ? null : readSetTime(new Date(String(value))));
const instant = (value: Value, { timeZone }: Reading) => {
  const at = readInstant(value);
  return at ? sayInstant(at, timeZone) : text(value);
};
const lastDay =
  (member: 'trial_ends_at' | 'cancels_at') =>
  (value: Value, { findLastDay }: Reading) => {
    const at = readInstant(value);
    return at ? sayDay(findLastDay(member, at)) : text(value);
  };

// As in the profile, managers and admins are administrators. Other users have no role here.
const roles: Record<string, string | null> = {
  user: null,
  manager: 'Administrator',
  admin: 'Administrator',
};
const states = {
  trialing: 'Free trial',
  active: 'Active',
  past_due: 'Payment overdue',
  canceled: 'Canceled',
  expired: 'Trial ended',
};

const words: Record<Subject, Record<string, Words>> = {
  user: {
    name: { what: 'Name', say: text },
    email: { what: 'Email address', say: text },
    email_verified_at: { what: 'Email address verified', say: yesOrNo },
    role: { what: 'Role', say: oneOf(roles) },
    suspended_at: { what: 'Suspended or frozen', say: yesOrNo },
    deletion_due_at: { what: 'Deletion planned for', say: instant },
    time_zone: { what: 'Time zone', say: text },
  },
  account: {
    name: { what: 'Account name', say: text },
    capabilities: { what: 'What the account may do', say: names },
    verified_at: { what: 'Account verified', say: yesOrNo },
    granted_here: { what: 'What we let the account do', say: names },
    revoked_here: { what: 'What we do not let the account do', say: names },
    verified_here: {
      what: 'Our check of the account',
      say: (value) => (value === null ? null : value ? 'verified' : 'not verified'),
    },
  },
  link: {
    external_id: { what: 'ID at the marketplace', say: text },
    sleeping_since: { what: 'Connection to the marketplace paused', say: yesOrNo },
  },
  contract: {
    plan: { what: 'Plan', say: text },
    status: { what: 'State of the contract', say: oneOf(states) },
    trial_ends_at: { what: 'Last day of the trial', say: lastDay('trial_ends_at') },
    cancels_at: { what: 'Last day of the contract', say: lastDay('cancels_at') },
  },
};

const edited: Record<string, Words | undefined> = {
  name: words.user.name,
  accountName: words.account.name,
  timeZone: words.user.time_zone,
};

export function nameEdited(member: string): string | undefined {
  const { what } = edited[member] ?? {};
  return what?.toLowerCase();
}

/** Empty for a change that means nothing to the person. */
export function describeMembers(subject: Subject, members: Members, reading: Reading): Detail[] {
  const details = Object.entries(words[subject]).flatMap(([name, { what, say }]) => {
    const member = members[name];
    if (!member) return [];
    const detail = { what, from: say(member.from, reading), to: say(member.to, reading) };
    return detail.from === detail.to ? [] : [detail];
  });
  const hasPrice = Object.keys(members).some((name) => name.startsWith('price_'));
  if (!hasPrice) return details;
  return [
    ...details,
    { what: 'Price', from: describePrice(members, 'from'), to: describePrice(members, 'to') },
  ];
}

/** Returns null if the change does not contain the whole price. */
function describePrice(members: Members, side: 'from' | 'to'): string | null {
  const [currency, amount, interval] = ['currency', 'unit_amount', 'interval'].map(
    (name) => members[`price_${name}`]?.[side] ?? null,
  );
  if (currency === null || amount === null || interval === null) return null;
  const digits = minorDigits(String(currency));
  return `${(Number(amount) / 10 ** digits).toFixed(digits)} ${currency} a ${interval}`;
}

const happened: Record<Subject, Record<'created' | 'changed' | 'removed', string>> = {
  user: {
    created: 'The account was created',
    changed: 'The profile was changed',
    removed: 'The account was deleted',
  },
  account: {
    created: 'The account was created',
    changed: 'The account was changed',
    removed: 'The account was deleted',
  },
  link: {
    created: 'A marketplace account was connected',
    changed: 'The connection to a marketplace account was changed',
    removed: 'A marketplace account was disconnected',
  },
  contract: {
    created: 'A service contract was added',
    changed: 'A service contract was changed',
    removed: 'A service contract was removed',
  },
};

export const describeHappening = ({ subject, kind }: Pick<Change, 'subject' | 'kind'>): string =>
  happened[subject][kind === 'found' ? 'changed' : kind];

const others = {
  marketplace: 'By the marketplace',
  crm: 'By our sales system',
  payments: 'By a payment',
  operator: 'By our support team',
  staff: 'By our support team',
  database: 'By our support team',
  service: 'Automatically',
};

export function describeAuthor(
  { subject, by, byUser }: Pick<Change, 'subject' | 'by' | 'byUser'>,
  userId: string,
): string | null {
  if (by === null) return null;
  if (by !== 'person') return others[by];
  // Only users themselves change their profile. If the history names another user, the owner of the profile opened a link from a
  // mail in a browser where that other user was logged in.
  const isOther = subject === 'account' && byUser !== null && byUser !== userId;
  return isOther ? 'By someone else in your account' : 'By you';
}
