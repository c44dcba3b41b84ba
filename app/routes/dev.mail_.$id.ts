import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ params, context }: LoaderFunctionArgs) =>
  context.endpoints.keptMail(params.id ?? '');
