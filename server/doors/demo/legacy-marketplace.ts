// Plays the legacy marketplace. It makes inbound hand-offs for the command line, the demo page and the tests.
import { AppError } from '../../basics/errors.ts';
import type { Config } from '../../settings/config.ts';
import { createNonce, sealEnvelope } from '../../sso/envelope.ts';

export type LegacyUser = {
  id: string;
  email: string;
  name: string;
  role: string;
  capabilities: string[];
  accountName?: string;
  emailVerified?: boolean;
  profileUpdatedAt: Date;
  returnTo?: string;
};

/**
 * Returns the URL to which the marketplace sends the browser of a logged-in user. Throws 404 `not_configured`, and 400
 * `invalid_request` if the URL would be too long or a time does not exist.
 */
export async function buildHandOffUrl(
  { marketplaceInbound, issuer, baseUrl }: Config,
  user: LegacyUser,
  issuedAt: Date,
): Promise<string> {
  if (!marketplaceInbound) throw new AppError('not_configured');
  const iat = Math.floor(issuedAt.getTime() / 1_000);
  try {
    const payload = {
      iss: marketplaceInbound.issuer,
      aud: issuer,
      iat,
      exp: iat + marketplaceInbound.ttlSeconds,
      nonce: createNonce(),
      client: 'marketplace',
      profile: {
        id: user.id,
        email: user.email,
        email_verified: user.emailVerified ?? true,
        name: user.name,
        role: user.role,
        account: { capabilities: user.capabilities, ...(user.accountName && { name: user.accountName }) },
        profile_updated_at: user.profileUpdatedAt.toISOString(),
      },
      ...(user.returnTo && { return_to: user.returnTo }),
    };
    const sealed = await sealEnvelope(payload, marketplaceInbound.secrets);
    return `${baseUrl}/sso/marketplace/callback?${new URLSearchParams(sealed)}`;
  } catch (error) {
    if (error instanceof RangeError) throw new AppError('invalid_request', { cause: error });
    throw error;
  }
}
