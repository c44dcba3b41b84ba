// Describes for the log what a mail server said when it refused a mail. The recipient's email address is cut out.
import { toUnicode } from 'tr46';

const maxRead = 2_000;
const maxLength = 200;
const cut = '…';

/**
 * Cuts out what a server may quote: email addresses, parts of the recipient's address, and words at least half as long as a mail
 * token.
 */
export function describeAnswer(answer: string | undefined, recipient: string): string | undefined {
  if (!answer) return undefined;
  // The text is normalised in the same way as our addresses. Otherwise a wide @ or a decomposed letter would hide an address.
  const words = answer
    .slice(0, maxRead)
    .normalize('NFKC')
    .split(/[\s\p{C}]+/u);
  const plain = words
    .map((word) => (/@|[%=]40/.test(word) ? cut : word))
    .join(' ')
    .trim();
  const parts = partsOf(recipient).map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const ofRecipient = new RegExp(`(?<![\\p{L}\\p{N}])(?:${parts.join('|')})(?![\\p{L}\\p{N}])`, 'giu');
  return plain
    .replaceAll(ofRecipient, cut)
    .replaceAll(/[\w-]{22,}/g, cut)
    .slice(0, maxLength);
}

/** Lists the longest part first. Otherwise a shorter part could be cut out of a longer one, and leave pieces of it. */
function partsOf(recipient: string): string[] {
  const [local = '', domain = ''] = recipient.toLowerCase().split('@');
  const [mailbox = ''] = local.split('+');
  return [local, mailbox, domain, toUnicode(domain).domain]
    .filter((part) => part !== '')
    .sort((one, other) => other.length - one.length);
}
