import type { LoaderFunctionArgs } from '@remix-run/node';

/** What no other route takes. */
export const loader = ({ context }: LoaderFunctionArgs) => context.backend.notFound();
export const action = loader;
