import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, params, context }: LoaderFunctionArgs) =>
  context.endpoints.staffDocumentFile(request, context.visit, { name: params.number ?? '' });

export const headers = { 'Cache-Control': 'no-store' };
