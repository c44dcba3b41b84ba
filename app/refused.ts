// A refused form is kept, so that its page can show it again (contract 9.171 and 9.173). The page reads it through
// app/components/refused.ts.
import type { ActionFunctionArgs } from '@remix-run/node';
import type { Procedures } from '../server/doors/trpc/router.ts';
import type { ConfirmAsks } from '../server/identity/login/confirm.ts';

export type Args = Pick<ActionFunctionArgs, 'request' | 'context'>;

export type Refused = {
  /** A problem code, or a word of `ownRefusals`. */
  code: string;
  status: number;
  /** Messages by the name of their field. */
  errors: Record<string, string>;
  /** What is wrong with the form as a whole. */
  message?: string | undefined;
  /** How long people have to wait. Set after too many tries. */
  waitSeconds?: number | undefined;
  minutes?: number | undefined;
  /** What was typed into the fields that the form may keep. */
  values: Record<string, string>;
  /** The saved profile, if it has changed since the form was made. */
  present?: Awaited<ReturnType<Procedures['profile']['get']>> | undefined;
  /** Set if the form must wait for a credential. The page then shows `Confirm`. */
  asks?: ConfirmAsks | undefined;
};

/** Refusals that only pages have, with their status. Each page has its own words for them. */
const ownRefusals = {
  wrong_login: 401,
  wrong_passkey: 401,
  unknown_passkey: 401,
  wrong_code: 401,
  other_time: 401,
  confirm: 401,
  taken: 409,
  last_admin: 409,
  /** The session had ended before the form was sent, so nothing was done. */
  ended: 200,
  /** Shows the form again, with one more row. Nothing was saved. */
  more_rows: 200,
};

export type OwnRefusal = keyof typeof ownRefusals;

type Refuse = Args['context']['transport']['refuse'];

const noPasskey = 'We could not log you in with that passkey.';

/**
 * For each of these refusals, the problem that a program gets in its place. The detail is given only if the usual text of the
 * code does not fit.
 */
const problemsOfOwn: Record<OwnRefusal, Parameters<Refuse>> = {
  wrong_login: ['login_required', 'The email address or password is incorrect.'],
  wrong_passkey: ['login_required', noPasskey],
  unknown_passkey: ['login_required', noPasskey],
  wrong_code: ['login_required', 'This code is wrong or has already been used.'],
  other_time: ['login_required', 'This code is for another time, so the clock on the phone may be off.'],
  confirm: ['login_required', 'This takes a credential given within ten minutes. Send one, or log in again.'],
  taken: ['email_in_use'],
  last_admin: ['last_admin'],
  ended: ['login_required'],
  more_rows: ['invalid_request', 'Send all rows with the form.'],
};

/** Returns the problem that an action throws for a program (contract 9.280). */
export const problemOf = (code: OwnRefusal, { transport }: Args['context']) =>
  transport.refuse(...problemsOfOwn[code]);

/** Problems that the page of the form shows. For any other problem, the answer is that problem's page. */
const shown = {
  validation_failed: 422,
  rate_limited: 429,
  not_found: 404,
  edited_meanwhile: 409,
  email_unverified: 403,
};

export const isShown = (code: string): code is keyof typeof shown => Object.hasOwn(shown, code);

/** Problems that only the pages of staff show. */
const shownToStaff = {
  not_allowed: 403,
  account_frozen: 403,
  last_admin: 409,
  email_in_use: 409,
  already_settled: 409,
  billing_paused: 409,
};

/** `not_found` is not shown, because a person who does not exist has no page. */
export const isShownToStaff = (code: string): boolean =>
  Object.hasOwn(shownToStaff, code) || (isShown(code) && code !== 'not_found');

const statuses: Record<string, number> = { ...shown, ...shownToStaff, ...ownRefusals };

export const statusOf = (code: string): number => statuses[code] ?? 422;

/** Returns the saved profile, if the form was refused because the profile has become newer than the form. */
export const findPresent = async (code: string, { request, context }: Args) =>
  code === 'edited_meanwhile' && pagePath(request) === '/profile'
    ? { present: await context.procedures.profile.get() }
    : {};

export const retryAfter = ({ waitSeconds }: Pick<Refused, 'waitSeconds'>): Record<string, string> =>
  waitSeconds ? { 'Retry-After': String(waitSeconds) } : {};

/**
 * Keeps the refusal for the page, and returns an id. Returns null if the refusal cannot be kept. Then the caller has to answer
 * with the page immediately.
 */
export const keepRefused = (
  { code, errors, message, waitSeconds, values }: Omit<Refused, 'status'>,
  { request, context }: Args,
  { isLarge = false }: { isLarge?: boolean } = {},
) =>
  context.procedures.forms.keep({
    isLarge,
    path: pagePath(request),
    code,
    // Pages know the usual text of a problem, so only a different text is kept.
    faults: {
      ...errors,
      ...(message && message !== context.site.explainProblem(code).explanation && { '': message }),
    },
    ...(waitSeconds && { waitSeconds }),
    fields: values,
  });

export const pagePath = ({ url }: Request): string => new URL(url).pathname;

/** Parameters that say what an earlier form did. They are removed from the page of a refused form. */
const outcomes = ['refused', 'saved', 'sent', 'off', 'recovered', 'logged_out', 'why'];

/** Returns the path of the page that sent the form, with the id of the refused form if there is one. */
export function pathWith({ request, context }: Args, id?: string): string {
  const query = context.transport.readQuery(request);
  for (const name of outcomes) query.delete(name);
  if (id) query.set('refused', id);
  return query.size > 0 ? `${pagePath(request)}?${query}` : pagePath(request);
}

/** The refused form that the page of this request shows again. */
export async function findRefused({ request, context }: Args): Promise<Refused | undefined> {
  const { procedures, transport } = context;
  const id = transport.readQuery(request).get('refused');
  const kept = id && (await procedures.forms.find({ id, path: pagePath(request) }));
  if (!kept) return undefined;
  const { code, fields: values, faults, waitSeconds } = kept;
  const { '': said, ...errors } = faults;
  const minutes = waitSeconds && Math.ceil(waitSeconds / 60);
  const isProblem = (isShown(code) || isShownToStaff(code)) && !minutes && Object.keys(errors).length === 0;
  const message = said ?? (isProblem ? context.site.explainProblem(code).explanation : undefined);
  const refused: Refused = { code, status: statusOf(code), errors, message, waitSeconds, minutes, values };
  if (code !== 'confirm') return { ...refused, ...(await findPresent(code, { request, context })) };
  const asks = await procedures.confirm.find();
  // The person has given a credential since, for example by a new login. So the page shows the form as not yet sent.
  if (!asks) return { ...refused, status: 200, errors: {} };
  return { ...refused, asks: { ...asks, error: errors.confirm, codeError: errors.confirmCode } };
}
