// What loaders and actions of several pages read of a request, and answer.
import { type LoaderFunctionArgs, redirectDocument } from '@remix-run/node';
import type { AppError } from '../server/basics/errors.ts';
import type { Procedures } from '../server/trpc/router.ts';

/** What a link in an email brings along. */
export const tokenOf = (request: Request, { transport }: LoaderFunctionArgs['context']) =>
  transport.readQuery(request).get('token') ?? '';

/** What became of a link that does not work; null for one that works, or whose token is not ours. */
export async function explainLink(
  { request, context }: Pick<LoaderFunctionArgs, 'request' | 'context'>,
  purpose: Parameters<Procedures['deadLinks']['explain']>[0]['purpose'],
  works: boolean,
) {
  if (works) return null;
  return context.procedures.deadLinks.explain({ purpose, token: tokenOf(request, context) });
}

/** The faults of a form, by the name of the field. */
export const errorsOf = ({ errors }: AppError): Record<string, string> =>
  Object.fromEntries(errors.map(({ pointer, detail }) => [pointer.slice(1), detail]));

/** What to throw: a redirect to the login for people who are not logged in, or the refusal, which the shell answers. */
export function loginOr(
  error: unknown,
  { transport, visit }: LoaderFunctionArgs['context'],
  loginPath: string,
): Response | AppError {
  if (error instanceof Response) return error;
  const refusal = transport.readRefusal(error, visit);
  return refusal.code === 'login_required' ? redirectDocument(loginPath, 303) : refusal;
}
