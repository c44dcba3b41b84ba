// The canonical e-mail address (contract section 9): unique on this form, and the only form that is stored.
import { toASCII } from 'tr46';
import { z } from 'zod';

// Default-ignorable covers zero-width and most bidi characters, Bidi_Control the rest; Cf catches what a
// later Unicode adds to either.
const forbidden = /[\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cs}]/u;

const rules = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  useSTD3ASCIIRules: true,
  verifyDNSLength: true,
};

/** What neither NFKC nor the list above can touch: nearly every address. */
const isPlain = (text: string) => /^[!-~]*$/.test(text);

/** What `toASCII` would leave as it is, told without its tables: nearly every domain. */
function isPlainDomain(domain: string): boolean {
  return domain.length <= 253 && /^(?!xn--)[a-z0-9-]{1,63}(?:\.(?!xn--)[a-z0-9-]{1,63})*$/.test(domain);
}

/** The canonical form of an address, or undefined where it is refused. No provider-specific rules. */
export function readEmailAddress(text: string): string | undefined {
  if (!isPlain(text) && (text.normalize('NFKC') !== text || forbidden.test(text))) return undefined;
  const [local, domain, ...more] = text.toLowerCase().split('@');
  if (!local || !domain || more.length > 0) return undefined;
  const asciiDomain = isPlainDomain(domain) ? domain : toASCII(domain, rules);
  if (!asciiDomain) return undefined;
  const address = `${local}@${asciiDomain}`;
  return Array.from(address).length <= 254 ? address : undefined;
}

/** The same for what is parsed: the canonical form comes out. */
export const emailSchema = z.string().transform((text, context) => {
  const email = readEmailAddress(text);
  if (email === undefined) context.addIssue({ code: 'custom', message: 'Must be an e-mail address.' });
  return email ?? z.NEVER;
});
