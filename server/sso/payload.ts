// What a hand-off says: the wire schema of contract section 3. Wire names, wire types, nothing else.
import { z } from 'zod';

const roles = ['admin', 'merchant', 'customer'] as const;

const codePoints = (text: string) => Array.from(text).length;

/** RFC 3339, UTC, with milliseconds and `Z`. */
const wireInstant = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .refine((text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text);

const standardProfileSchema = z.object({
  id: z.string().regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/),
  email: z.string().min(3).max(254),
  name: z.string().refine((name) => codePoints(name) >= 1 && codePoints(name) <= 200),
  role: z.enum(roles),
  account: z.object({ capabilities: z.array(z.string()) }),
  profile_updated_at: wireInstant,
});

export const payloadSchema = z.object({
  iss: z.string(),
  aud: z.string(),
  iat: z.int(),
  exp: z.int(),
  nonce: z.string().regex(/^[A-Za-z0-9_-]{22}$/),
  client: z.string(),
  /** Names this login at this client. */
  sid: z
    .string()
    .regex(/^[A-Za-z0-9_-]{22}$/)
    .optional(),
  /** Unix seconds: when the person last gave a credential. */
  auth_time: z.int().optional(),
  /** How, in the words of RFC 8176. */
  amr: z.array(z.string()).optional(),
  profile: standardProfileSchema,
  state: z
    .string()
    .regex(/^[A-Za-z0-9._~-]{1,512}$/)
    .optional(),
  return_to: z
    .string()
    .refine((path) => isReturnTo(path))
    .optional(),
});

/** The profile that every client sees. */
export type StandardProfile = z.infer<typeof standardProfileSchema>;

export type Payload = z.infer<typeof payloadSchema>;

/** A path on the client's own site: one leading slash, no backslash, no control characters, at most 2,048. */
export function isReturnTo(value: string): boolean {
  return value.length <= 2_048 && /^\/(?!\/)[^\\\p{Cc}]*$/u.test(value);
}
