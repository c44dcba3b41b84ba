import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { tokenOf } from '../answers.ts';

/** Links in mails of earlier versions lead on to the present page. */
export const loader = ({ request, context }: LoaderFunctionArgs) =>
  redirect(`/take-back?token=${encodeURIComponent(tokenOf(request, context))}`, 303);

/** The token in this page's address must not leak through a Referer. */
export const headers = () => ({ 'Referrer-Policy': 'no-referrer' });
