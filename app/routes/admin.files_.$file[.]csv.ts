import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, params, context }: LoaderFunctionArgs) =>
  context.endpoints.staffFile(request, context.visit, { name: params.file ?? '' });

export const headers = { 'Cache-Control': 'no-store' };
