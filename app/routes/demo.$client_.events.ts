import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';

/** For the open page of the client. */
export const loader = async ({ request, params, context }: LoaderFunctionArgs) => {
  const { client, clients } = context.demo.requireClient(params.client ?? '');
  return clients.watch(client, request);
};

/** Where nudges to the client go. */
export const action = async ({ request, params, context }: ActionFunctionArgs) => {
  const { client, clients } = context.demo.requireClient(params.client ?? '');
  return clients.receiveNudge(client, request);
};
