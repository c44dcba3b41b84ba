// What the pages of staff load, and where they lead whoever has not given what staff must give (contract 12.1 to 12.5).
import { redirectDocument } from '@remix-run/node';
import type { AppError } from '../server/basics/errors.ts';
import type { Procedures } from '../server/doors/trpc/router.ts';
import { toLogin } from './log-in-first.ts';
import { withNext } from './next.ts';
import { type Args, pagePath } from './refused.ts';

export type Who = Awaited<ReturnType<Procedures['staffForms']['who']>>;

/** Loads a page of staff, with who it is for. The shell has hidden it from everybody else. */
export async function loadForStaff<T>(
  args: Args,
  load: (procedures: Procedures, who: Who) => Promise<T>,
): Promise<T & { who: Who }> {
  try {
    const { procedures } = args.context;
    const who = await procedures.staffForms.who();
    return { ...(await load(procedures, who)), who };
  } catch (error) {
    throw error instanceof Response ? error : await leadStaff(error, args);
  }
}

/** A redirect to where staff give what is missing, and back; or the refusal, which the shell answers. */
async function leadStaff(error: unknown, args: Args): Promise<Response | AppError> {
  const { transport, procedures, visit } = args.context;
  const refusal = transport.readRefusal(error, visit);
  const here = pagePath(args.request) + new URL(args.request.url).search;
  if (refusal.code === 'second_factor_required') {
    const { isOn, hasPasskey, mustUsePasskey } = await procedures.authenticator.describe();
    const givesItThere = mustUsePasskey || (!isOn && !hasPasskey);
    return givesItThere ? redirectDocument(withNext('/profile/authenticator', here), 303) : logInAgain(here);
  }
  if (refusal.code !== 'login_required') return refusal;
  // Without a prompt, the login page would lead whoever is logged in straight back.
  const isLoggedIn = (await procedures.visitor.session()) === 'live';
  return isLoggedIn ? logInAgain(here) : toLogin(args);
}

const logInAgain = (here: string) => redirectDocument(`${withNext('/login', here)}&prompt=login`, 303);
