import type { Refused } from '../refused.ts';

/** After the form has asked once about a likely typo in the address, it takes what is typed (contract 9.220). */
export function Meant({ refused }: { refused: Refused | undefined }) {
  const isAsked = refused && (refused.errors.meant !== undefined || refused.values.meant === 'yes');
  return isAsked ? <input type="hidden" name="meant" value="yes" /> : null;
}
