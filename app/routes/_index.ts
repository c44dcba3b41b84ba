import { redirect } from '@remix-run/node';

// This is an endpoint, because a page would first look up the visitor.
export const loader = async () =>
  redirect('/profile', { status: 303, headers: { 'Cache-Control': 'no-store' } });
