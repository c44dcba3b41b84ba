// Failures of a transaction that come only from another one at the same rows, so that the next attempt can go well.

/** Thrown in a transaction that found, too late to go on, that another one was first. */
export class LostRace extends Error {}

// Unique keys that two transactions may reach for at once, each in good faith.
const racedFor = new Set([
  'users_held_email_key',
  'users_email_not_reserved',
  'external_links_pkey',
  'external_links_user_id_provider_key',
  'service_contracts_signup_id_key',
  'webhook_requests_pkey',
]);
// References to a user who is erased, or an account that goes or gets somebody, at the same moment: the next attempt finds the
// new state, and goes on from there.
const removed = new Set([
  'users_account_id_fkey',
  'service_contracts_user_id_fkey',
  'service_contracts_account_id_fkey',
  'mails_user_id_fkey',
]);

/**
 * Whether a transaction failed only because another one was first; so too for SQLSTATE 40001 (serialization failure) and 40P01
 * (deadlock).
 */
export function isLostRace(error: unknown): boolean {
  const { code, constraint = '' } = error as { code?: string; constraint?: string };
  return (
    error instanceof LostRace ||
    code === '40001' ||
    code === '40P01' ||
    (code === '23505' && racedFor.has(constraint)) ||
    (code === '23503' && removed.has(constraint))
  );
}
