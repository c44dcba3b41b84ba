import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, context }: LoaderFunctionArgs) =>
  context.endpoints.oauthLogout(request, context.visit);

export const action = loader;

export const headers = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
