// The canonical form of an e-mail address (contract section 9), the only one that is stored.
import { toASCII } from 'tr46';
import { z } from 'zod';

// Default_Ignorable covers zero-width and most bidi characters, Bidi_Control the others; Cf catches those that a
// later Unicode adds. Quotes would be a second spelling of the same mailbox, and mail programs drop angle brackets.
const forbidden = /["<>\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cs}]/u;

const rules = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  useSTD3ASCIIRules: true,
  verifyDNSLength: true,
};

// Short cuts for nearly every address: neither NFKC nor the list above can change the first, nor `toASCII` the
// second.
const isPlain = (text: string) => /^[!#-;=?-~]*$/.test(text);

function isPlainDomain(domain: string): boolean {
  return domain.length <= 253 && /^(?!xn--)[a-z0-9-]{1,63}(?:\.(?!xn--)[a-z0-9-]{1,63})*$/.test(domain);
}

/** The canonical form, or undefined for an address we refuse. No provider-specific rules. */
export function readEmailAddress(text: string): string | undefined {
  if (!isPlain(text) && (text.normalize('NFKC') !== text || forbidden.test(text))) return undefined;
  const lower = text.toLowerCase();
  // Small letters may compose where capitals do not; the canonical form must be its own.
  if (!isPlain(lower) && lower.normalize('NFKC') !== lower) return undefined;
  const [local, domain, ...more] = lower.split('@');
  if (!local || !domain || more.length > 0) return undefined;
  const asciiDomain = isPlainDomain(domain) ? domain : toASCII(domain, rules);
  if (!asciiDomain) return undefined;
  const address = `${local}@${asciiDomain}`;
  return Array.from(address).length <= 254 ? address : undefined;
}

/** The error to show at the field. */
export const malformedEmail = {
  pointer: '/email',
  detail: 'Enter an email address in the correct format, like name@example.com.',
};

/** The same as a schema; its output is the canonical form. */
export const emailSchema = z
  .string()
  .transform((text, context) => {
    const email = readEmailAddress(text);
    if (email === undefined) context.addIssue({ code: 'custom', message: 'Must be a valid email address.' });
    return email ?? z.NEVER;
  })
  .describe('An email address. Contract section 9 says which are refused.');
