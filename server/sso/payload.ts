// What a hand-off says, as contract 3.1 to 3.17 define it. It has only the names and types of the wire format.
import { z } from 'zod';
import { roles } from './clients.ts';

const codePoints = (text: string) => Array.from(text).length;

/** RFC 3339, UTC, with milliseconds and `Z`. */
export const wireInstantSchema = z
  .string()
  .regex(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
  .refine((text) => !Number.isNaN(Date.parse(text)) && new Date(text).toISOString() === text)
  .meta({ format: 'date-time' });

export const userIdSchema = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
  .describe('UUID v7. It never changes and is never used again.');

export const sidSchema = z
  .string()
  .regex(/^[A-Za-z0-9_-]{22}$/)
  .describe('Names this login at this client. The same for each launch of one login.');

export const stateForm = /^[A-Za-z0-9._~-]{1,512}$/;
const maxReturnToLength = 2_048;
const returnToForm = /^\/(?!\/)[^\\\p{Cc}]*$/u;

export const standardProfileSchema = z
  .object({
    id: userIdSchema,
    email: z.string().min(3).max(254).describe('In a hand-off always one that the person has proved.'),
    name: z
      .string()
      .refine((name) => codePoints(name) >= 1 && codePoints(name) <= 200)
      .meta({ minLength: 1, maxLength: 200 }),
    role: z.enum(roles),
    account: z.object({
      capabilities: z
        .array(z.string())
        .describe(
          'What the account may do: sorted, each once. Absent means off. Ignore those you do not know.',
        ),
    }),
    profile_updated_at: wireInstantSchema.describe('Strictly later after each change of the profile.'),
  })
  .describe('What every product sees of a person.');

export const payloadSchema = z
  .object({
    iss: z.string().describe('The base URL of this service, character by character.'),
    aud: z.string().describe('The name of your client.'),
    iat: z.int().describe('When it was made, in Unix seconds.'),
    exp: z.int().describe('When it expires, in Unix seconds.'),
    nonce: z
      .string()
      .regex(/^[A-Za-z0-9_-]{22}$/)
      .describe('Accept each one once.'),
    client: z.string().describe('The same as `aud`.'),
    sid: sidSchema.optional(),
    auth_time: z
      .int()
      .optional()
      .describe(
        'When the person last gave a credential here, in Unix seconds. Absent where another site logged them in.',
      ),
    amr: z.array(z.string()).optional().describe('How they gave it, in the words of RFC 8176, or `ext`.'),
    profile: standardProfileSchema,
    state: z.string().regex(stateForm).optional().describe('The state of the launch.'),
    return_to: z
      .string()
      .refine((path) => isReturnTo(path))
      .optional()
      .meta({ maxLength: maxReturnToLength, pattern: returnToForm.source })
      .describe('The `return_to` of the launch: a path on your own site.'),
  })
  .describe('What a hand-off says. Ignore members that you do not know.');

export type StandardProfile = z.infer<typeof standardProfileSchema>;

export type Payload = z.infer<typeof payloadSchema>;

/**
 * Returns whether this is a path on the client's own site: one leading slash, no backslash, no control characters, at most
 * 2,048 characters.
 */
export function isReturnTo(value: string): boolean {
  return value.length <= maxReturnToLength && returnToForm.test(value);
}
