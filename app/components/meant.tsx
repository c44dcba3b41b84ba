import type { Refused } from '../refused.ts';

/** The form asks about a likely typo one time. After that it accepts the email address as typed (contract 9.220). */
export function Meant({ refused }: { refused: Refused | undefined }) {
  const isAsked = refused && (refused.errors.meant !== undefined || refused.values.meant === 'yes');
  return isAsked ? <input type="hidden" name="meant" value="yes" /> : null;
}
