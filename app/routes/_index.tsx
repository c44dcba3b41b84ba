import { type LoaderFunctionArgs, redirect } from '@remix-run/node';

export async function loader(_args: LoaderFunctionArgs) {
  return redirect('/profile', 303);
}

// A page, if an empty one: `/` belongs to the pages.
export default function Index() {
  return null;
}
