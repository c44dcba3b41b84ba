// The one way of every form: what an action does with it, and how a refused one comes back to its page (contract 9.171 to
// 9.178). app/components/refused.ts is the other end, in the page.
import {
  type ActionFunctionArgs,
  type AppLoadContext,
  data,
  redirect,
  redirectDocument,
} from '@remix-run/node';
import type { AppError } from '../server/basics/errors.ts';
import type { ConfirmAsks } from '../server/identity/login/confirm.ts';
import type { Procedures } from '../server/trpc/router.ts';
import { leadOn } from './next.ts';

type Args = Pick<ActionFunctionArgs, 'request' | 'context'>;

export type Form = Awaited<ReturnType<AppLoadContext['transport']['readForm']>>;
export type FieldName = Parameters<Form['get']>[0];

/** What a refused form gets back. */
export type Refused = {
  /** A problem code, or a word of `ownRefusals`. */
  code: string;
  status: number;
  /** What is wrong, by field. */
  errors: Record<string, string>;
  /** What is wrong with the form as a whole. */
  message?: string | undefined;
  /** For how long to wait after too many tries. */
  waitSeconds?: number | undefined;
  minutes?: number | undefined;
  /** What was typed, as far as the form keeps it. */
  values: Record<string, string>;
  /** The saved values, if they have changed since the form was made. */
  present?: Awaited<ReturnType<Procedures['profile']['get']>> | undefined;
  /** A credential is needed first: the page is `Confirm`. */
  asks?: ConfirmAsks | undefined;
};

/** Refusals that only pages know, and their status. The page has the words. */
const ownRefusals = {
  wrong_login: 401,
  wrong_passkey: 401,
  wrong_code: 401,
  confirm: 401,
  taken: 409,
  last_admin: 409,
  /** The session had ended: the form was not sent. */
  ended: 200,
};

type OwnRefusal = keyof typeof ownRefusals;

class FormRefusal {
  readonly code: OwnRefusal;
  readonly asks: ConfirmAsks | undefined;

  constructor(code: OwnRefusal, asks?: ConfirmAsks) {
    this.code = code;
    this.asks = asks;
  }
}

/** For an action to throw. */
export const refuseForm = (code: OwnRefusal) => new FormRefusal(code);

/** Stops an action that needs a credential first. */
export function requireNoAsks({ asks }: { asks?: ConfirmAsks }): void {
  if (asks) throw new FormRefusal('confirm', asks);
}

/** Problems that the page of the form says. Any other has a page of its own. */
const shown = {
  validation_failed: 422,
  rate_limited: 429,
  not_found: 404,
  edited_meanwhile: 409,
  email_unverified: 403,
};

const isShown = (code: string): code is keyof typeof shown => Object.hasOwn(shown, code);

const statusOf = (code: string): number =>
  ({ ...shown, ...ownRefusals })[code as keyof typeof shown | OwnRefusal] ?? 422;

/**
 * Answers a posted form. `act` does what it asks for, and gives the path to go on to, or an answer of its own; what it throws
 * is shown on the page again. `keeps` names the fields that may be kept for that: never one with a secret. A form that `needsNoFields`
 * may be posted without a body, too.
 */
export async function answerForm(
  { request, context }: Args,
  {
    keeps = [],
    needsNoFields = false,
    act,
  }: {
    keeps?: FieldName[];
    needsNoFields?: boolean;
    act: (form: Form, procedures: Procedures) => Promise<string | Response | ReturnType<typeof data>>;
  },
) {
  const { procedures, transport } = context;
  const isBare = needsNoFields && !request.headers.has('content-type');
  const form: Form = isBare ? new Map() : await transport.readForm(request);
  const values = Object.fromEntries(
    [...form].filter(([name]) => name === 'intent' || keeps.includes(name as FieldName)),
  );
  try {
    const done = await act(form, procedures);
    return typeof done === 'string' ? redirectDocument(leadOn(done, context), 303) : done;
  } catch (error) {
    if (error instanceof Response) return error;
    const refused = await describeRefusal(error, { request, context }, values);
    if (refused instanceof Response) return refused;
    const id = transport.prefersHtml(request) && (await keep(refused, { request, context }));
    return id ? redirectDocument(pathWith({ request, context }, id), 303) : answerAtOnce(refused);
  }
}

/** The refusal to show, or a redirect to the login. Throws what has a page of its own. */
async function describeRefusal(
  error: unknown,
  args: Args,
  values: Record<string, string>,
): Promise<Refused | Response> {
  if (error instanceof FormRefusal) {
    const { code, asks } = error;
    const errors: Record<string, string> = asks?.error ? { confirm: asks.error } : {};
    return { code, status: statusOf(code), errors, values, asks };
  }
  const { transport, procedures, visit } = args.context;
  const refusal = transport.readRefusal(error, visit);
  if (refusal.code === 'login_required') return toLogin(args, { values });
  if (!isShown(refusal.code)) throw refusal;
  const errors = errorsOf(refusal);
  const wait = Number(refusal.headers['Retry-After']);
  return {
    code: refusal.code,
    status: refusal.status,
    errors,
    message: refusal.errors.length > 0 || refusal.minutes ? undefined : refusal.detail,
    ...(wait > 0 && { waitSeconds: wait, minutes: refusal.minutes }),
    values,
    ...(refusal.code === 'edited_meanwhile' && { present: await procedures.profile.get() }),
  };
}

/** The faults of a form, by the name of the field. */
const errorsOf = ({ errors }: AppError): Record<string, string> =>
  Object.fromEntries(errors.map(({ pointer, detail }) => [pointer.slice(1), detail]));

const answerAtOnce = (refused: Refused) =>
  data({ refused }, { status: refused.status, headers: retryAfter(refused) });

export const retryAfter = ({ waitSeconds }: Pick<Refused, 'waitSeconds'>): Record<string, string> =>
  waitSeconds ? { 'Retry-After': String(waitSeconds) } : {};

/** Keeps the refusal for the page. The result is its id, or null if the browser has no room for it. */
const keep = (
  { code, errors, message, waitSeconds, values }: Omit<Refused, 'status'>,
  { request, context }: Args,
) =>
  context.procedures.forms.keep({
    path: pagePath(request),
    code,
    faults: { ...errors, ...(message && { '': message }) },
    ...(waitSeconds && { waitSeconds }),
    fields: values,
  });

/** The path of the page. A script of the page asks for its data at the path with `.data` added. */
const pagePath = ({ url }: Request): string => new URL(url).pathname.replace(/\.data$/, '');

/** What an earlier form did: it says nothing of the one that is refused now. */
const outcomes = ['refused', 'saved', 'sent', 'off', 'recovered', 'logged_out', 'why'];

/** The page that sent the form, with the refused form of that id or none. */
function pathWith({ request, context }: Args, id?: string): string {
  const query = context.transport.readQuery(request);
  for (const name of outcomes) query.delete(name);
  if (id) query.set('refused', id);
  return query.size > 0 ? `${pagePath(request)}?${query}` : pagePath(request);
}

/** The form that the page of this request shows again, if there is one. */
export async function findRefused({ request, context }: Args): Promise<Refused | undefined> {
  const { procedures, transport } = context;
  const id = transport.readQuery(request).get('refused');
  const kept = id && (await procedures.forms.find({ id, path: pagePath(request) }));
  if (!kept) return undefined;
  const { code, fields: values, faults, waitSeconds } = kept;
  const { '': said, ...errors } = faults;
  const minutes = waitSeconds && Math.ceil(waitSeconds / 60);
  const isProblem = isShown(code) && !minutes && Object.keys(errors).length === 0;
  const message = said ?? (isProblem ? context.site.explainProblem(code).explanation : undefined);
  const refused: Refused = { code, status: statusOf(code), errors, message, waitSeconds, minutes, values };
  if (code === 'edited_meanwhile') return { ...refused, present: await procedures.profile.get() };
  if (code !== 'confirm') return refused;
  const asks = await procedures.confirm.find();
  // A credential was given meanwhile, such as by a login after the session's end: the form is there, not yet sent.
  if (!asks) return { ...refused, status: 200, errors: {} };
  return { ...refused, asks: { ...asks, error: errors.confirm } };
}

type Why = 'ended' | 'other-browser';

/**
 * A redirect to the login page, which comes back here. `values` are the fields of a form that was not sent: they are kept for
 * the user whose session has ended.
 */
export async function toLogin(
  { request, context }: Args,
  { values, why }: { values?: Record<string, string>; why?: Why } = {},
): Promise<Response> {
  const { transport, procedures } = context;
  const session = await procedures.visitor.session();
  // A browser sent the form: as a document, or by the script of a page.
  const isFromPage = transport.prefersHtml(request) || context.isPageData;
  const isLost = values !== undefined && session !== 'live' && isFromPage;
  const id = isLost && (await keep({ code: 'ended', errors: {}, values }, { request, context }));
  const said = id || session === 'ended' ? 'ended' : session === 'none' ? why : undefined;
  const back = values
    ? pathWith({ request, context }, id || undefined)
    : pagePath(request) + new URL(request.url).search;
  const path = transport.loginPathTo(back);
  return redirectDocument(said ? `${path}&why=${said}` : path, 303);
}

/** The login page for another account, which comes back to this page. */
export const otherLoginPath = (request: Request) =>
  `/login?prompt=login&next=${encodeURIComponent(pagePath(request) + new URL(request.url).search)}`;

/** What a loader throws: a redirect to the login for people who are not logged in, or the refusal, which the shell answers. */
export async function loginOr(error: unknown, args: Args, why?: Why): Promise<Response | AppError> {
  if (error instanceof Response) return error;
  const { transport, visit } = args.context;
  const refusal = transport.readRefusal(error, visit);
  return refusal.code === 'login_required' ? toLogin(args, { why }) : refusal;
}

/** Whether the form asks for the mail that it has asked for before. Throws 400 `invalid_request` for any other intent. */
export function isAgain(form: Form, { transport }: AppLoadContext): boolean {
  const intent = form.get('intent');
  if (intent !== undefined && intent !== 'again')
    throw transport.invalidParameter('intent', 'It must be an action of this page.');
  return intent === 'again';
}

export const text = (form: Form, name: FieldName) => form.get(name) ?? '';

/**
 * Answers the forms of a page of one's own account: each names its action by `intent`, and a success leads back to the page
 * with `?saved=` and that intent. `credential` names the intents that take the password: a person with passkeys only is asked
 * for a passkey. Throws 400 `invalid_request` for an unknown intent.
 */
export const answerIntents = (
  args: Args,
  intents: Record<string, (procedures: Procedures, form: Form) => Promise<unknown>>,
  { keeps = [], credential = [] }: { keeps?: FieldName[]; credential?: string[] } = {},
) =>
  answerForm(args, {
    keeps,
    async act(form, procedures) {
      const intent = text(form, 'intent');
      const act = Object.hasOwn(intents, intent) ? intents[intent] : undefined;
      if (!act) throw args.context.transport.invalidParameter('intent', 'It must be an action of this page.');
      if (credential.includes(intent)) requireNoAsks(await procedures.confirm.askWithoutPassword({ form }));
      await act(procedures, form);
      return redirect(`${pagePath(args.request)}?saved=${intent}`, 303);
    },
  });

/** Sends people who are not logged in to the login page, and back from there; the shell answers the rest. */
export async function loadAccount<T>(
  args: Args,
  load: (procedures: Procedures) => Promise<T>,
  why?: Why,
): Promise<T & { saved: string | null }> {
  try {
    const loaded = await load(args.context.procedures);
    return { ...loaded, saved: args.context.transport.readQuery(args.request).get('saved') };
  } catch (error) {
    throw await loginOr(error, args, why);
  }
}

/** Loads the user, for the pages about their address. */
export const loadOwnAddress = (args: Args, why?: Why) =>
  loadAccount(args, (procedures) => procedures.address.describe(), why);
