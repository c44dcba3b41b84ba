import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = async ({ context }: LoaderFunctionArgs) => context.endpoints.favicon();
