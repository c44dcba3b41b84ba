// The forms on the pages of one's own account: each names its action by `intent`, and a success leads back to the page with
// `?saved=` and that intent.
import { type ActionFunctionArgs, data, type LoaderFunctionArgs, redirect } from '@remix-run/node';
import type { ConfirmAsks } from '../server/identity/login/confirm.ts';
import type { Procedures } from '../server/trpc/router.ts';
import { errorsOf } from './answers.ts';

type Form = Awaited<ReturnType<Context['transport']['readForm']>>;
type Context = LoaderFunctionArgs['context'];

/** What a refused form gets back: the reason at each field, or else a message, and what was typed. */
export type Refused = {
  intent: string;
  code: string;
  errors: Record<string, string>;
  message?: string;
  /** For how long to wait after too many tries. */
  minutes?: number;
  values: Record<string, string>;
  /** The saved values, if they have changed since the form was made. */
  present?: Awaited<ReturnType<Procedures['profile']['get']>>;
  /** A credential is needed first: the page is `Confirm`. */
  asks?: ConfirmAsks;
};

export const text = (form: Form, name: Parameters<Form['get']>[0]) => form.get(name) ?? '';

/** What was typed, to be shown again; never a password. */
export const keepTyped = (form: Form) =>
  Object.fromEntries([...form].filter(([name]) => !/password/i.test(name)));

/**
 * `credential` names the intents that take the password: a person with passkeys only is asked for a passkey. Throws 400
 * `invalid_request` for an unknown intent.
 */
export async function answerForm(
  { request, context }: Pick<ActionFunctionArgs, 'request' | 'context'>,
  intents: Record<string, (procedures: Procedures, form: Form) => Promise<unknown>>,
  credential: string[] = [],
) {
  const { procedures, transport } = context;
  const { pathname: path } = new URL(request.url);
  const form = await transport.readForm(request);
  const intent = text(form, 'intent');
  if (!Object.hasOwn(intents, intent))
    throw transport.invalidParameter('intent', 'It must be an action of this page.');
  try {
    const { asks } = credential.includes(intent) ? await procedures.confirm.askWithoutPassword({ form }) : {};
    if (asks) {
      const refused: Refused = { intent, code: 'login_required', errors: {}, values: {}, asks };
      return data(refused, { status: 401 });
    }
    await intents[intent]?.(procedures, form);
  } catch (error) {
    const [refused, init] = refuse(error, { intent, form, path, context });
    if (refused.code === 'edited_meanwhile') refused.present = await procedures.profile.get();
    return data(refused, init);
  }
  return redirect(`${path}?saved=${intent}`, 303);
}

function refuse(
  error: unknown,
  { intent, form, path, context }: { intent: string; form: Form; path: string; context: Context },
): [Refused, { status: number; headers?: HeadersInit }] {
  const refusal = context.transport.readRefusal(error, context.visit);
  if (refusal.code === 'login_required') throw redirect(`/login?next=${encodeURIComponent(path)}`, 303);
  if (!['validation_failed', 'rate_limited', 'not_found', 'edited_meanwhile'].includes(refusal.code))
    throw refusal;
  const errors = errorsOf(refusal);
  const hasField = [...form.keys()].some((name) => Object.hasOwn(errors, name) && name !== 'id');
  const message = hasField ? undefined : refusal.detail;
  return [
    { intent, code: refusal.code, errors, message, minutes: refusal.minutes, values: keepTyped(form) },
    { status: refusal.status, headers: refusal.headers },
  ];
}

/** Sends people who are not logged in to the login page, and back from there; the shell answers the rest. */
export async function loadAccount<T>(
  { request, context: { procedures, transport, visit } }: Pick<LoaderFunctionArgs, 'request' | 'context'>,
  load: (procedures: Procedures) => Promise<T>,
): Promise<T & { saved: string | null }> {
  try {
    const loaded = await load(procedures);
    return { ...loaded, saved: transport.readQuery(request).get('saved') };
  } catch (error) {
    const refusal = transport.readRefusal(error, visit);
    throw refusal.code === 'login_required' ? redirect(transport.loginPath(request), 303) : refusal;
  }
}

/** Loads the user, for the pages about their address. */
export const loadOwnAddress = (args: Pick<LoaderFunctionArgs, 'request' | 'context'>) =>
  loadAccount(args, (procedures) => procedures.address.describe());
