import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, params, context }: LoaderFunctionArgs) =>
  context.endpoints.launch(request, context.visit, params.client ?? '');

export const headers = { 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' };
