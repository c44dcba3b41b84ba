// What a payer or their bank wrote (contract 7.145 and 7.410): money has come, so it is never refused for its text.
import { isVisible, notShown } from '../../basics/names.ts';

/** In code points. */
export const mostOfPayer = { number: 64, method: 60, reference: 200 } as const;

const breakOrHidden = new RegExp(`\\r\\n|${notShown.source}`, 'gu');

/**
 * The text on one line, with a space for what cannot be shown, and cut after `most` code points. Null if nothing of that is
 * visible.
 */
export function readPayerText(text: string, most = Number.POSITIVE_INFINITY): string | null {
  const line = text.replace(breakOrHidden, ' ').trim();
  // So many code points are at most twice as many units.
  const cut = Array.from(line.slice(0, 2 * most))
    .slice(0, most)
    .join('')
    .trimEnd();
  return isVisible(cut) ? cut : null;
}
