import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = async ({ request, params, context }: LoaderFunctionArgs) => {
  const { client, clients } = context.demo.requireClient(params.client ?? '');
  return clients.start(client, request);
};
