// How the action of every page answers its form (contract 9.171 to 9.177).
import { type AppLoadContext, data, redirect } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';
import type { ConfirmAsks } from '../server/identity/login/confirm.ts';
import { toLogin } from './log-in-first.ts';
import { leadOn } from './next.ts';
import {
  type Args,
  findPresent,
  isShown,
  keepRefused,
  type OwnRefusal,
  pagePath,
  pathWith,
  problemOf,
  type Refused,
  retryAfter,
  statusOf,
} from './refused.ts';

export type Form = Awaited<ReturnType<AppLoadContext['transport']['readForm']>>;
export type FieldName = Parameters<Form['get']>[0];

type Change = Parameters<Procedures['confirm']['ask']>[0]['change'];

class FormRefusal {
  readonly code: OwnRefusal;
  readonly asks: ConfirmAsks | undefined;

  constructor(code: OwnRefusal, asks?: ConfirmAsks) {
    this.code = code;
    this.asks = asks;
  }
}

/** Builds a refusal for an action to throw. */
export const refuseForm = (code: OwnRefusal) => new FormRefusal(code);

/** Stops an action until a credential is given. */
export function requireNoAsks({ asks }: { asks?: ConfirmAsks }): void {
  if (asks) throw new FormRefusal('confirm', asks);
}

/**
 * Answers a posted form. `act` does what the form asks for, and returns the answer or the path to which the browser goes next.
 * If `act` throws a refusal, the page shows the form again and says why. `keeps` names the fields that the page may fill in
 * again, so it must never name a secret. If a form `needsNoFields`, it may be posted without a body. `shows` says which
 * problems the page itself shows. If a form that `isLarge` is refused, all its fields and messages are kept, however long they
 * are.
 */
export async function answerForm(
  { request, context }: Args,
  {
    keeps = [],
    needsNoFields = false,
    isLarge = false,
    shows = isShown,
    act,
  }: {
    keeps?: FieldName[] | ((name: FieldName) => boolean);
    needsNoFields?: boolean;
    isLarge?: boolean;
    shows?: (code: string) => boolean;
    act: (form: Form, procedures: Procedures) => Promise<string | Response | ReturnType<typeof data>>;
  },
) {
  const { procedures, transport } = context;
  const isBare = needsNoFields && !request.headers.has('content-type');
  const form: Form = isBare ? new Map() : await transport.readForm(request);
  const isKept = typeof keeps === 'function' ? keeps : (name: FieldName) => keeps.includes(name);
  const values = Object.fromEntries([...form].filter(([name]) => name === 'intent' || isKept(name)));
  try {
    const done = await act(form, procedures);
    context.isDone = true;
    const id = transport.readQuery(request).get('refused');
    if (id) await procedures.forms.dropDone({ id });
    return typeof done === 'string' ? redirect(leadOn(done, context), 303) : done;
  } catch (error) {
    if (error instanceof Response) return error;
    if (transport.prefersProblem(request)) {
      const { visit } = context;
      const refusal =
        error instanceof FormRefusal ? problemOf(error.code, context) : transport.readRefusal(error, visit);
      // The form's URL may contain a token, which must not reach other sites.
      throw refusal.with({ 'Referrer-Policy': 'no-referrer' });
    }
    const refused = await describeRefusal(error, { request, context }, { values, shows, isLarge });
    if (refused instanceof Response) return refused;
    const id =
      transport.prefersHtml(request) && (await keepRefused(refused, { request, context }, { isLarge }));
    return id ? redirect(pathWith({ request, context }, id), 303) : answerAtOnce(refused);
  }
}

/** Returns the refusal to show, or a redirect to the login. Throws a refusal that has a page of its own. */
async function describeRefusal(
  error: unknown,
  args: Args,
  {
    values,
    shows,
    isLarge,
  }: { values: Record<string, string>; shows: (code: string) => boolean; isLarge: boolean },
): Promise<Refused | Response> {
  if (error instanceof FormRefusal) {
    const { code, asks } = error;
    const errors: Record<string, string> = {
      ...(asks?.error && { confirm: asks.error }),
      ...(asks?.codeError && { confirmCode: asks.codeError }),
    };
    return { code, status: statusOf(code), errors, values, asks };
  }
  const { transport, visit } = args.context;
  const refusal = transport.readRefusal(error, visit);
  if (refusal.code === 'login_required') return toLogin(args, { values, isLarge });
  if (!shows(refusal.code)) throw refusal;
  const errors = Object.fromEntries(refusal.errors.map(({ pointer, detail }) => [pointer.slice(1), detail]));
  const wait = Number(refusal.headers['Retry-After']);
  // The page always says how long to wait, so it does not show a detail that says only that.
  const isUsualWait =
    refusal.minutes && refusal.detail === args.context.site.explainProblem(refusal.code).explanation;
  return {
    code: refusal.code,
    status: refusal.status,
    errors,
    message: refusal.errors.length > 0 || isUsualWait ? undefined : refusal.detail,
    ...(wait > 0 && { waitSeconds: wait, minutes: refusal.minutes }),
    values,
    ...(await findPresent(refusal.code, args)),
  };
}

const answerAtOnce = (refused: Refused) =>
  data({ refused }, { status: refused.status, headers: retryAfter(refused) });

/** Returns whether the form asks for the same mail again. Throws 400 `invalid_request` for an unknown intent. */
export function isAgain(form: Form, { transport }: AppLoadContext): boolean {
  const intent = form.get('intent');
  if (intent !== undefined && intent !== 'again')
    throw transport.invalidParameter('intent', 'It must be an action of this page.');
  return intent === 'again';
}

export const text = (form: Form, name: FieldName) => form.get(name) ?? '';

/**
 * Answers the forms on a page of the account. The field `intent` of a form names its action. After a success, the page shows
 * again, with `?saved=` and the intent. `credential` names the intents whose forms ask for the password. People without a
 * password are asked for a passkey instead. Throws 400 `invalid_request` for an unknown intent.
 */
export const answerIntents = (
  args: Args,
  intents: Record<string, (procedures: Procedures, form: Form) => Promise<unknown>>,
  {
    keeps = [],
    credential = [],
    shows = isShown,
  }: { keeps?: FieldName[]; credential?: string[]; shows?: (code: string) => boolean } = {},
) =>
  answerForm(args, {
    keeps,
    shows,
    async act(form, procedures) {
      const intent = text(form, 'intent');
      const act = Object.hasOwn(intents, intent) ? intents[intent] : undefined;
      if (!act) throw args.context.transport.invalidParameter('intent', 'It must be an action of this page.');
      if (credential.includes(intent)) requireNoAsks(await procedures.confirm.askWithoutPassword({ form }));
      await act(procedures, form);
      return redirect(`${pagePath(args.request)}?saved=${intent}`, 303);
    },
  });

/**
 * Makes a change that needs a credential given in the last ten minutes. `act` first checks the form and refuses what is wrong.
 * Only then is the person asked for a credential, unless the form already carries one.
 */
export async function actConfirmed<Done>(
  { context: { transport, visit } }: Args,
  { procedures, form, change }: { procedures: Procedures; form: Form; change?: Change },
  act: () => Promise<Done>,
): Promise<Done> {
  try {
    return await act();
  } catch (error) {
    if (transport.readRefusal(error, visit).code !== 'login_required') throw error;
    requireNoAsks(await procedures.confirm.ask({ form, ...(change && { change }) }));
    return act();
  }
}
