import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, context }: LoaderFunctionArgs) =>
  context.endpoints.paymentInvoices(request, context.visit);
