// What the pages of staff load, and where they lead staff who lack a credential (contract 12.1 to 12.5).
import { data, redirect } from '@remix-run/node';
import type { AppError } from '../server/basics/errors.ts';
import type { Procedures } from '../server/doors/trpc/router.ts';
import type { FieldName } from './forms.ts';
import { toLogin } from './log-in-first.ts';
import { withNext } from './next.ts';
import { type Args, pagePath } from './refused.ts';

export type Who = Awaited<ReturnType<Procedures['staffForms']['who']>>;

/** Loads a page of staff. The shell has already hidden it from everybody else. */
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

/** Loads a list page. `read` gets `before`, and each filter that is set. If a filter is not valid, the page has status 422. */
export async function loadList<Name extends FieldName, Read, More>(
  args: Args,
  names: Name[],
  read: (procedures: Procedures, asked: Partial<Record<Name, string>>) => Promise<Read>,
  readMore?: (procedures: Procedures) => Promise<More>,
) {
  const { transport, visit } = args.context;
  const query = transport.readQuery(args.request);
  const get = (name: FieldName): [string, string] => [name, query.get(name) ?? ''];
  const asked = Object.fromEntries(names.map(get)) as Record<Name, string>;
  const set = Object.fromEntries([...names, 'before' as const].map(get).filter(([, value]) => value !== ''));
  const loaded = await loadForStaff(args, async (procedures) => {
    const more = (await readMore?.(procedures)) as More;
    try {
      return {
        ...more,
        list: await read(procedures, set as typeof asked),
        fault: undefined,
        faultAt: undefined,
      };
    } catch (thrown) {
      const refusal = transport.readRefusal(thrown, visit);
      if (refusal.code !== 'validation_failed') throw thrown;
      const [error] = refusal.errors;
      return { ...more, list: null, fault: error?.detail ?? refusal.detail, faultAt: error?.pointer };
    }
  });
  return data({ ...loaded, asked, isFirst: !query.get('before') }, { status: loaded.list ? 200 : 422 });
}

/**
 * Returns a redirect to the page that asks for the missing credential. From there, people come back. Any other refusal is
 * returned as it is, and the shell answers it.
 */
async function leadStaff(error: unknown, args: Args): Promise<Response | AppError> {
  const { transport, procedures, visit } = args.context;
  const refusal = transport.readRefusal(error, visit);
  const here = pagePath(args.request) + new URL(args.request.url).search;
  if (refusal.code === 'second_factor_required') {
    const { isOn, hasPasskey, mustUsePasskey } = await procedures.authenticator.describe();
    const givesItThere = mustUsePasskey || (!isOn && !hasPasskey);
    return givesItThere ? redirect(withNext('/profile/authenticator', here), 303) : logInAgain(here);
  }
  if (refusal.code !== 'login_required') return refusal;
  // Without `prompt=login`, the login page would lead people who are logged in straight back here.
  const isLoggedIn = (await procedures.visitor.session()) === 'live';
  return isLoggedIn ? logInAgain(here) : toLogin(args);
}

const logInAgain = (here: string) => redirect(`${withNext('/login', here)}&prompt=login`, 303);
