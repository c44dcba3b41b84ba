import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, context }: LoaderFunctionArgs) =>
  context.endpoints.sampleFile(request, context.visit);

export const headers = { 'Cache-Control': 'no-store' };
