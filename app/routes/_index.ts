import { redirect } from '@remix-run/node';

// Not a page, which would look for the visitor first.
export const loader = async () =>
  redirect('/profile', { status: 303, headers: { 'Cache-Control': 'no-store' } });
