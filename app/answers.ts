// What loaders and actions of several pages read of a request.
import type { LoaderFunctionArgs } from '@remix-run/node';

/** What a link in an email brings along. */
export const tokenOf = (request: Request, { transport }: LoaderFunctionArgs['context']) =>
  transport.readQuery(request).get('token') ?? '';
