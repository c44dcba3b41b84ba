// The payload from the legacy marketplace (contract 6.1 to 6.8). It is like the payload of contract section 3, but its ids and
// a few rules differ.
import { z } from 'zod';
import { instantSchema } from '../basics/instant.ts';
import { nameSchema } from '../basics/names.ts';
import { textBounds } from '../basics/text.ts';
import { readCapabilities } from '../identity/ground/capabilities.ts';
import { emailSchema } from '../identity/ground/email-address.ts';
import { readOwnPath } from '../web/requests.ts';

export const externalIdSchema = z
  .string()
  .regex(/^[^\s\p{C}\p{Z}]{1,128}$/u)
  .describe('The marketplace’s own id. Never the email address.');

/** The profile in a payload, and one line of the file to import. */
export const marketplaceProfileSchema = z.object({
  id: externalIdSchema,
  email: emailSchema,
  email_verified: z.boolean().default(true).describe('Whether the marketplace has verified it.'),
  name: nameSchema,
  role: z.enum(['admin', 'merchant', 'customer']),
  account: z.object({
    capabilities: z.array(z.string().max(1_024)).max(100).transform(readCapabilities),
    name: nameSchema.optional(),
  }),
  profile_updated_at: instantSchema,
});

export type MarketplaceProfile = z.infer<typeof marketplaceProfileSchema>;

export const marketplacePayloadSchema = z.object({
  iss: z.string().max(2_048).describe('MARKETPLACE_SSO_ISSUER, character by character.'),
  aud: z.string().max(2_048).describe('The base URL of this service, character by character.'),
  client: z.string().max(100).describe('`marketplace`.'),
  iat: z.int(),
  exp: z.int(),
  nonce: z.string().regex(/^[A-Za-z0-9_-]{16,128}$/),
  profile: marketplaceProfileSchema,
  return_to: z
    .string()
    .max(textBounds.return_to, { abort: true })
    .refine((path) => readOwnPath(path) !== undefined)
    .optional()
    .describe('A path of this service.'),
});

export type MarketplacePayload = z.infer<typeof marketplacePayloadSchema>;
