import type { Refused } from '../refused.ts';

/** Makes the form take the address as typed, after it has asked once about a likely typo (contract 9.220). */
export function Meant({ refused }: { refused: Refused | undefined }) {
  const isAsked = refused && (refused.errors.meant !== undefined || refused.values.meant === 'yes');
  return isAsked ? <input type="hidden" name="meant" value="yes" /> : null;
}
