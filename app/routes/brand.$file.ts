import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = async ({ params, context }: LoaderFunctionArgs) =>
  context.endpoints.brandFile(params.file ?? '');
