// The answer of a mail server that refused a mail, for the log: without the address of the person.
import { toUnicode } from 'tr46';

const maxRead = 2_000;
const maxLength = 200;
const cut = '…';

/** Cuts out email addresses, either part of the recipient's, and text as long as half a token: servers may quote the mail. */
export function describeAnswer(answer: string | undefined, recipient: string): string | undefined {
  if (!answer) return undefined;
  // Normalised like our addresses: otherwise a wide @ or a decomposed letter would hide an address.
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

/** Longest first, so that no part of a longer one is left over. */
function partsOf(recipient: string): string[] {
  const [local = '', domain = ''] = recipient.toLowerCase().split('@');
  const [mailbox = ''] = local.split('+');
  return [local, mailbox, domain, toUnicode(domain).domain]
    .filter((part) => part !== '')
    .sort((one, other) => other.length - one.length);
}
