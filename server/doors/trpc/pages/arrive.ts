import { z } from 'zod';
import { findPasswordMail, setPasswordByMail } from '../../../identity/address/password-by-mail.ts';
import { requestPasswordMail } from '../../../identity/address/request-password-mail.ts';
import { readTypedEmail, readTypedName } from '../../../identity/address/typed-email.ts';
import { describeDevice, userAgentOf } from '../../../identity/ground/device.ts';
import { confirmSignUp, findSignUp, requestSignUp, requireSignUp } from '../../../identity/person/sign-up.ts';
import { anonymous, router, setCookies } from '../init.ts';

const token = z.string();
const next = z.string().optional();
const credential = z.union([z.object({ passkey: z.string() }), z.object({ newPassword: z.string() })]);

export const signUpRouter = router({
  /** Throws 404 `not_configured` if people cannot sign up themselves. */
  requireOpen: anonymous.query(({ ctx }) => requireSignUp(ctx.deps)),

  request: anonymous
    .input(z.object({ name: z.string(), email: z.string(), isMeant: z.boolean(), next }))
    .mutation(({ ctx, input }) => requestSignUp(ctx.deps, ctx.request, ctx.visit, input)),

  /**
   * Repeats the request with what this browser has kept of the form. Returns `unknown` if the email address or the name is
   * missing.
   */
  requestAgain: anonymous.input(z.object({ next })).mutation(async ({ ctx, input }) => {
    const { deps, request, visit } = ctx;
    const [email, name] = [readTypedEmail(deps, request), readTypedName(deps, request)];
    if (!email || !name) return 'unknown';
    await requestSignUp(deps, request, visit, { ...input, email, name, isMeant: true });
    return 'sent';
  }),

  find: anonymous
    .input(z.object({ token }))
    .query(async ({ ctx, input }) => (await findSignUp(ctx.deps, input.token)) ?? null),

  confirm: anonymous
    .input(z.object({ token, name: z.string() }).and(credential))
    .mutation(async ({ ctx, input }) => {
      const done = await confirmSignUp(ctx.deps, ctx.request, ctx.visit, input);
      if (done === 'taken') return done;
      setCookies(ctx, done);
      return 'done';
    }),
});

export const invitationRouter = router({
  find: anonymous
    .input(z.object({ token }))
    .query(async ({ ctx, input }) => (await findSignUp(ctx.deps, input.token, 'invitation')) ?? null),

  take: anonymous
    .input(z.object({ token, name: z.string(), newPassword: z.string() }))
    .mutation(async ({ ctx, input }) => {
      const done = await confirmSignUp(ctx.deps, ctx.request, ctx.visit, input, 'invitation');
      if (done === 'taken') return done;
      setCookies(ctx, done);
      return 'done';
    }),
});

export const passwordMailRouter = router({
  request: anonymous
    .input(z.object({ email: z.string(), next }))
    .mutation(({ ctx, input }) => requestPasswordMail(ctx.deps, ctx.visit, input, ctx.request)),

  /** Repeats the request with the email address that this browser has kept. Returns `unknown` if the browser has kept none. */
  requestAgain: anonymous.input(z.object({ next })).mutation(async ({ ctx, input }) => {
    const email = readTypedEmail(ctx.deps, ctx.request);
    if (!email) return 'unknown';
    await requestPasswordMail(ctx.deps, ctx.visit, { ...input, email }, ctx.request);
    return 'sent';
  }),

  find: anonymous
    .input(z.object({ token }))
    .query(async ({ ctx, input }) => (await findPasswordMail(ctx.deps, input.token)) ?? null),

  use: anonymous.input(z.object({ token }).and(credential)).mutation(async ({ ctx, input }) => {
    const { deps, request, visit } = ctx;
    const given = 'passkey' in input ? { ...input, name: describeDevice(userAgentOf(request)) } : input;
    const done = await setPasswordByMail(deps, request, visit, given);
    if (done === 'taken') return done;
    setCookies(ctx, done.setCookies);
    return done.needsCode ? 'code_needed' : 'done';
  }),
});
