// Reads text from a payer or their bank (contract 7.145). A payment is never refused because of its text.
import { isVisible, notShown } from '../../basics/names.ts';

/** At most this many code points of each text are kept. */
export const mostOfPayer = { number: 64, method: 60, reference: 200 } as const;

const breakOrHidden = new RegExp(`\\r\\n|${notShown.source}`, 'gu');

/**
 * Returns the text as one line of at most `most` code points. Spaces replace characters that cannot be shown. Returns null if
 * nothing is visible.
 */
export function readPayerText(text: string, most = Number.POSITIVE_INFINITY): string | null {
  const line = text.replace(breakOrHidden, ' ').trim();
  // A code point has at most two UTF-16 units.
  const cut = Array.from(line.slice(0, 2 * most))
    .slice(0, most)
    .join('')
    .trimEnd();
  return isVisible(cut) ? cut : null;
}
