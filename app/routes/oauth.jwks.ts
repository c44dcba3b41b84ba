import type { LoaderFunctionArgs } from '@remix-run/node';

export const loader = ({ context }: LoaderFunctionArgs) => context.endpoints.oauthKeys();
