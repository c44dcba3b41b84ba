/** Once the question about a likely slip in the address was asked, the form goes on with what is typed (contract 9.220). */
export function Meant({ isAsked }: { isAsked: boolean | undefined }) {
  return isAsked ? <input type="hidden" name="meant" value="yes" /> : null;
}
