import { type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import { loadForStaff } from '../staff.ts';

export const handle = { isStatic: true };

export async function loader(args: LoaderFunctionArgs) {
  await loadForStaff(args, async () => ({}));
  throw redirectDocument('/admin/people', 303);
}

/** A page, though it only leads on: an endpoint would not be hidden from others (contract 12.5). */
export default function Admin() {
  return null;
}
