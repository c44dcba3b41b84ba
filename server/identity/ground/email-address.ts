// The canonical form of an e-mail address (contract 9.10 to 9.12), the only one that is stored.

import { toASCII, toUnicode } from 'tr46';
import { z } from 'zod';
import { faultWords } from '../../basics/fault-words.ts';
import { textBounds } from '../../basics/text.ts';
import type { Config } from '../../settings/config.ts';

// Default_Ignorable covers zero-width and most bidi characters, and Bidi_Control covers the other bidi characters. Cf covers
// the characters of this kind that later versions of Unicode add. If quotes were allowed, a mailbox could be spelled in two
// ways. Mail programs drop angle brackets. XML cannot contain some noncharacters.
const forbidden =
  /["<>\p{Cc}\p{Cf}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\p{White_Space}\p{Cs}\p{Noncharacter_Code_Point}]/u;

const rules = {
  checkBidi: true,
  checkHyphens: false,
  checkJoiners: true,
  useSTD3ASCIIRules: true,
  verifyDNSLength: true,
};

// Shortcuts that save time for nearly every address. NFKC, `forbidden` and `toASCII` would neither change nor refuse a plain
// text.
const isPlain = (text: string) => /^[!#-;=?-~]*$/.test(text);

function isPlainDomain(domain: string): boolean {
  return domain.length <= 253 && /^(?!xn--)[a-z0-9-]{1,63}(?:\.(?!xn--)[a-z0-9-]{1,63})*$/.test(domain);
}

/** Returns the canonical form, or undefined if the text is no email address. Applies no rules of individual mail providers. */
export function readEmailAddress(text: string): string | undefined {
  if (text.length > textBounds.email) return undefined;
  if (!isPlain(text) && (text.normalize('NFKC') !== text || forbidden.test(text))) return undefined;
  const lower = text.toLowerCase();
  // NFKC may compose small letters, but not their capitals. So NFKC may leave a text alone, and still change it after it is in
  // lower case. Such an address is refused, because its canonical form would not be stable.
  if (!isPlain(lower) && lower.normalize('NFKC') !== lower) return undefined;
  const [local, domain, ...more] = lower.split('@');
  if (!local || !domain || more.length > 0) return undefined;
  const asciiDomain = isPlainDomain(domain) ? domain : toASCII(domain, rules);
  if (!asciiDomain) return undefined;
  const address = `${local}@${asciiDomain}`;
  return Array.from(address).length <= 254 ? address : undefined;
}

/**
 * Returns the address with its domain as people write it. Two domains may look alike, so show the result only beside the
 * canonical form.
 */
export function spellEmailAddress(email: string): string {
  const at = email.lastIndexOf('@') + 1;
  const { domain, error } = toUnicode(email.slice(at), rules);
  return error ? email : email.slice(0, at) + domain;
}

/**
 * Returns whether we can send mail to the domain. Call it only for an address that is new to its user: addresses that are
 * stored already stay valid.
 */
export function canGetMail(address: string, { production }: Pick<Config, 'production'>): boolean {
  const labels = address.slice(address.lastIndexOf('@') + 1).split('.');
  const last = labels.at(-1) ?? '';
  if (last === 'localhost') return !production;
  if (last === 'test' && production) return false;
  // The domain must not end in a number, because a URL parser would take it for an IPv4 address
  // (https://url.spec.whatwg.org/#ends-in-a-number-checker).
  return labels.length > 1 && !/^(?:\d+|0x[\da-f]*)$/.test(last);
}

/** Returns the canonical form. Undefined if the text is no address, or the address cannot get mail. */
export function readNewEmailAddress(text: string, config: Pick<Config, 'production'>): string | undefined {
  const address = readEmailAddress(text);
  return address !== undefined && canGetMail(address, config) ? address : undefined;
}

export const malformedEmail = {
  pointer: '/email',
  detail: faultWords.email_malformed,
};

/**
 * For addresses from other systems. The people who have them may be here already, so this does not check whether the address
 * can get mail.
 */
export const emailSchema = z
  .string()
  .max(textBounds.email, { error: 'Must be a valid email address.', abort: true })
  .transform((text, context) => {
    const email = readEmailAddress(text);
    if (email === undefined) context.addIssue({ code: 'custom', message: 'Must be a valid email address.' });
    return email ?? z.NEVER;
  })
  .describe('An email address. Contract 9.10 and 9.12 say which are refused.');
