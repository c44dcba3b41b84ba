import type { LoaderFunctionArgs } from '@remix-run/node';

/** The client's login link. */
export const loader = async ({ params, context }: LoaderFunctionArgs) => {
  const { client, clients } = context.backend.requireDemoClient(params.client ?? '');
  return clients.start(client);
};
