// How often a user may make each change, so that nobody can flood the tables or mailboxes (contract 9.52 to 9.67).
import type { Database } from '../../../db/postgres/client.ts';
import {
  type Allowance,
  type AuditEventType,
  auditEventTypes,
} from '../../../db/tables/audit-event-types.ts';
import { countChange, findFullCount } from '../../../db/tables/rate-limits.ts';
import { AppError } from '../../basics/errors.ts';
import { digestOf } from '../../ground/rate-limits.ts';

const hour = 60 * 60;
const day = 24 * hour;

const further = {
  // Counted for each email address that a signup names for invoices.
  'invoice-email-of-signup': { times: 2, seconds: day },
  // Logins by password are counted for each password, so that a password set by mail starts new counts. Each browser that
  // `nameOwnBrowser` names has its own count. All new browsers share one count, and all other known browsers share another.
  'login-own-browser': { times: 60, seconds: hour },
  'login-new-browser': { times: 100, seconds: hour },
  'login-known-browser': { times: 300, seconds: hour },
  'login-passkey': { times: 300, seconds: hour },
};

type Counted = {
  [Type in AuditEventType]: (typeof auditEventTypes)[Type]['limit'] extends Allowance ? Type : never;
}[AuditEventType];

export type AllowanceName = Counted | keyof typeof further;

export const allowances = {
  ...Object.fromEntries(
    Object.entries(auditEventTypes).flatMap(([type, { limit }]) =>
      typeof limit === 'string' ? [] : [[type, limit]],
    ),
  ),
  ...further,
} as Record<AllowanceName, Allowance>;

/** Returns a count as the table knows it: its key, how many times the change is allowed, and in how many milliseconds. */
export const countOf = (name: AllowanceName, of: string) => {
  const { times, seconds } = allowances[name];
  return { key: `allowance-${name}:${digestOf(of)}`, times, windowMs: seconds * 1_000 };
};

/**
 * Call it in the transaction of the change, so that a failed change is not counted. `of` names who spends the allowance, such
 * as a user. Throws 429.
 */
export async function spendAllowance(trx: Database, name: AllowanceName, of: string): Promise<void> {
  const count = countOf(name, of);
  if (!(await countChange(trx, count))) throw refuse((await findFullCount(trx, count)) ?? 0);
}

/** Throws 429 `rate_limited` if the allowance is used up. Counts nothing. */
export async function requireAllowance(db: Database, name: AllowanceName, of: string): Promise<void> {
  const waitMs = await findFullCount(db, countOf(name, of));
  if (waitMs !== undefined) throw refuse(waitMs);
}

const refuse = (waitMs: number) =>
  new AppError('rate_limited', {
    headers: { 'Retry-After': String(Math.max(1, Math.ceil(waitMs / 1_000))) },
  });
