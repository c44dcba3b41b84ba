import type { Refused } from '../refused.ts';

/** Once the question about a likely slip in the address was asked, the form goes on with what is typed (contract 9.220). */
export function Meant({ refused }: { refused: Refused | undefined }) {
  const isAsked = refused && (refused.errors.meant !== undefined || refused.values.meant === 'yes');
  return isAsked ? <input type="hidden" name="meant" value="yes" /> : null;
}
