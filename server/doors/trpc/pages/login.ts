import { z } from 'zod';
import { isStaff } from '../../../acts/staff.ts';
import { AppError } from '../../../basics/errors.ts';
import { findTimeZone } from '../../../basics/time-zones.ts';
import {
  keepLoginEmail,
  keepTypedEmail,
  keepTypedName,
  readLoginEmail,
  readTypedEmail,
  readTypedName,
} from '../../../identity/address/typed-email.ts';
import { type AllowanceName, allowances } from '../../../identity/ground/allowances.ts';
import { confirm, confirmWithoutPassword, findAsks } from '../../../identity/login/confirm.ts';
import { login, logout } from '../../../identity/login/login.ts';
import { readLogoutTarget } from '../../../identity/login/logout-target.ts';
import { logInByPasskey } from '../../../identity/login/passkey-login.ts';
import { findOwnPendingLogin, finishLogin, type LoginStep } from '../../../identity/login/pending-login.ts';
import { asksForCode } from '../../../identity/session/second-factor.ts';
import { hasSessionCookie } from '../../../identity/session/sessions.ts';
import { type Form, isByPasskey } from '../../../web/requests.ts';
import { anonymous, lookUp, person, router, setCookies, settingUp, type TrpcContext } from '../init.ts';

/**
 * `code_needed` means that the login waits for a code. `passkey_offered` means that the session begins with the offer of a
 * passkey.
 */
type LoginOutcome = 'done' | 'code_needed' | 'passkey_offered';

type Refusal = 'wrong_login' | 'wrong_passkey' | 'unknown_passkey';

function takeStep(
  ctx: TrpcContext,
  step: (LoginStep & { offersPasskey?: boolean }) | Refusal,
): LoginOutcome | Refusal {
  if (typeof step === 'string') return step;
  setCookies(ctx, step.setCookies);
  if (step.needsCode) return 'code_needed';
  return step.offersPasskey ? 'passkey_offered' : 'done';
}

export const visitorRouter = router({
  /**
   * Returns who is logged in, even if they must do something first. Pages use this only to show the email address, times, and a
   * link for staff.
   */
  find: anonymous.query(async ({ ctx }) => {
    const found = await lookUp(ctx);
    if (!found || found.state === 'suspended') return null;
    const { user, amr } = found;
    return {
      email: user.email,
      isStaff: isStaff(user),
      /** Null if none is chosen, or if only the runtime of another instance knows it. */
      timeZone: findTimeZone(user.timeZone ?? '') ?? null,
      /** Whether a client that needs a second factor would make this user enter a code of their app. */
      owesCode: asksForCode(user) && !amr.includes('mfa'),
    };
  }),

  /** Returns whether this browser has a live session, or still has the cookie of an ended one. */
  session: anonymous.query(async ({ ctx }): Promise<'live' | 'ended' | 'none'> => {
    const found = await lookUp(ctx);
    if (found && found.state !== 'suspended') return 'live';
    return hasSessionCookie(ctx.deps, ctx.request) ? 'ended' : 'none';
  }),
});

export const loginRouter = router({
  byPassword: anonymous
    .input(
      z.object({
        email: z.string(),
        password: z.string(),
        /** The path that the person is going to. Set only if their browser can add a passkey. */
        offer: z.object({ next: z.string() }).optional(),
      }),
    )
    .mutation(async ({ ctx, input }) => {
      // The URL of this request says that the login is by a passkey. So the limits for logins with a password have not counted
      // it, and its password must not be hashed.
      if (isByPasskey(ctx.request.url)) return 'wrong_passkey';
      const keep = () => setCookies(ctx, keepLoginEmail(ctx.deps, input.email));
      const step = await login(ctx.deps, ctx.request, ctx.visit, input).catch((error) => {
        if (error instanceof AppError && error.code === 'rate_limited') keep();
        throw error;
      });
      if (!step || step.needsCode) keep();
      return takeStep(ctx, step ?? 'wrong_login');
    }),

  byPasskey: anonymous
    .input(z.object({ passkey: z.string() }))
    .mutation(async ({ ctx, input }) =>
      takeStep(ctx, await logInByPasskey(ctx.deps, ctx.request, ctx.visit, input.passkey)),
    ),

  /** Returns the login in this browser that waits for a code, or null. */
  pending: anonymous.query(async ({ ctx }) => (await findOwnPendingLogin(ctx.deps, ctx.request)) ?? null),

  byCode: anonymous.input(z.object({ code: z.string() })).mutation(async ({ ctx, input }) => {
    const outcome = await finishLogin(ctx.deps, ctx.request, ctx.visit, input.code);
    if (typeof outcome === 'string') return outcome;
    setCookies(ctx, outcome);
    return 'done';
  }),

  /** Returns the URL that the browser goes to after a logout that a client started. Returns null if no client started it. */
  logoutTarget: anonymous.query(({ ctx }) => readLogoutTarget(ctx.deps.clients, ctx.request) ?? null),

  out: anonymous.mutation(async ({ ctx }) => {
    const found = await lookUp(ctx);
    setCookies(ctx, [await logout(ctx.deps, ctx.request, ctx.visit)]);
    if (found && found.state !== 'suspended') setCookies(ctx, keepLoginEmail(ctx.deps, found.user.email));
    // This does not clear "cookies" or "storage", because browsers take seconds for these, and what we keep there logs nobody in.
    ctx.headers.set('Clear-Site-Data', '"cache"');
  }),

  /** Returns the email address with which somebody in this browser last logged out or tried to log in with a password. */
  lastEmail: anonymous.query(({ ctx }) => readLoginEmail(ctx.deps, ctx.request)),

  /** Returns the email address that somebody typed to get a mail. The page that confirms the mail shows this address. */
  typedEmail: anonymous.query(({ ctx }) => readTypedEmail(ctx.deps, ctx.request)),

  typedName: anonymous.query(({ ctx }) => readTypedName(ctx.deps, ctx.request)),

  keepTypedEmail: anonymous
    .input(z.object({ email: z.string(), name: z.string().optional() }))
    .mutation(({ ctx, input: { email, name } }) => {
      setCookies(ctx, [keepTypedEmail(ctx.deps, email)]);
      if (name !== undefined) setCookies(ctx, [keepTypedName(ctx.deps, name)]);
    }),
});

const form = z.custom<Form>((value) => value instanceof Map);
const changes = Object.keys(allowances) as AllowanceName[];
const asked = z.object({ form, change: z.enum(changes).optional() });
const askedWhileSettingUp = asked.extend({ clientNeedsFactor: z.boolean().optional() });

/** `asks` in an answer is what the page must ask for before it makes the change. It is undefined if the page need not ask. */
export const confirmRouter = router({
  ask: person.input(asked).mutation(({ ctx, input }) => confirm(ctx.deps, ctx, input.form, input)),

  /** Returns what the page of an unfinished set-up must still ask for, if that page is opened again. */
  find: settingUp.query(({ ctx }) => findAsks(ctx.deps, ctx)),

  askWhileSettingUp: settingUp
    .input(askedWhileSettingUp)
    .mutation(({ ctx, input }) => confirm(ctx.deps, ctx, input.form, input)),

  /** This is for a form that has its own field for the password. */
  askWithoutPassword: person
    .input(z.object({ form }))
    .mutation(({ ctx, input }) => confirmWithoutPassword(ctx.deps, ctx, input.form)),
});
