import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ request, params, context }: LoaderFunctionArgs) =>
  context.backend.launch(request, params.client ?? '');
export const action = loader;
