// What a mail server answered to a mail that it did not take, as the log may have it: without the person's address.
import { toUnicode } from 'tr46';

const maxRead = 2_000;
const maxLength = 200;
const cut = '…';

/**
 * One line, of bounded length, in the server's own words. What is taken out: every email address; either part of the
 * recipient's, alone ("no user zoe here"); and what is as long as half a token, since a server may quote the mail.
 */
export function describeAnswer(answer: string | undefined, recipient: string): string | undefined {
  if (!answer) return undefined;
  // One spelling, as our addresses have: else a wide @ or a letter in two parts would hide one.
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

/** Longest first, so that no part is left of another. */
function partsOf(recipient: string): string[] {
  const [local = '', domain = ''] = recipient.toLowerCase().split('@');
  const [mailbox = ''] = local.split('+');
  return [local, mailbox, domain, toUnicode(domain).domain]
    .filter((part) => part !== '')
    .sort((one, other) => other.length - one.length);
}
