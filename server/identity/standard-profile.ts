// The one profile that every product sees, and the role rule (contract sections 2 and 3).
import type { SessionUser } from '../../db/sessions.ts';
import type { StandardProfile } from '../sso/payload.ts';

type Account = SessionUser['account'];

export function buildStandardProfile(user: SessionUser): StandardProfile {
  return {
    id: user.id,
    email: user.email,
    name: user.name,
    role: roleOf(user),
    account: { capabilities: sentCapabilities(user.account) },
    profile_updated_at: user.profileUpdatedAt.toISOString(),
  };
}

// What is granted counts for the role, before it is in force: a merchant waiting for verification is one.
function roleOf(user: SessionUser): StandardProfile['role'] {
  if (user.role === 'admin' || user.role === 'manager') return 'admin';
  return user.account.capabilities.length > 0 ? 'merchant' : 'customer';
}

/** Sorted, unique; `sell_products` only once the account is verified, even if it was granted before. */
function sentCapabilities({ capabilities: granted, verifiedAt }: Account): string[] {
  return [...new Set(granted)].filter((name) => name !== 'sell_products' || verifiedAt !== null).sort();
}
