import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';

/** The open page of the client listens here for new events. */
export const loader = async ({ request, params, context }: LoaderFunctionArgs) => {
  const { client, clients } = context.demo.requireClient(params.client ?? '');
  return clients.watch(client, request);
};

export const action = async ({ request, params, context }: ActionFunctionArgs) => {
  const { client, clients } = context.demo.requireClient(params.client ?? '');
  return clients.receiveNudge(client, request);
};
