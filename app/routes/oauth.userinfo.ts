import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, context }: LoaderFunctionArgs) =>
  context.endpoints.oauthUserinfo(request, context.visit);

export const action = loader;
