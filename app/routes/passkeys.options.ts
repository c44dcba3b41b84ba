import type { ActionFunctionArgs } from '@remix-run/node';

export const action = ({ request, context }: ActionFunctionArgs) =>
  context.backend.passkeyOptions(request, context.visit);
