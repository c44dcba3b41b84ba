// Recognizes failures that another transaction on the same rows has caused. After such a failure, a new attempt can succeed.

/** Thrown by a transaction that cannot continue because another transaction was first. */
export class LostRace extends Error {}

// Unique keys that two valid transactions may claim at the same time.
const racedFor = new Set([
  'users_held_email_key',
  'users_email_not_reserved',
  'external_links_pkey',
  'external_links_user_id_provider_key',
  'service_contracts_signup_id_key',
  'webhook_requests_pkey',
]);
// References to a user or account that is removed or changed at the same moment.
const removed = new Set([
  'users_account_id_fkey',
  'service_contracts_user_id_fkey',
  'service_contracts_account_id_fkey',
  'mails_user_id_fkey',
]);

/**
 * Returns whether another transaction caused the error. Such errors include SQLSTATE 40001 (serialization failure) and 40P01
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
