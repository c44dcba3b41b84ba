import { redirect } from '@remix-run/node';

// This is an endpoint, because a page would look for the visitor first.
export const loader = async () =>
  redirect('/profile', { status: 303, headers: { 'Cache-Control': 'no-store' } });
