// Procedures for the pages of one's own account. Programs cannot call them.
import { z } from 'zod';
import { timeZones } from '../../../basics/time-zones.ts';
import { findObstacle } from '../../../identity/address/change-email.ts';
import {
  addAuthenticator,
  describeAuthenticator,
  findSetUp,
  removeAuthenticator,
  renewRecoveryCodes,
  startSetUp,
} from '../../../identity/factor/authenticator.ts';
import { isEstablishedBrowser } from '../../../identity/ground/established-browsers.ts';
import { requireMeant } from '../../../identity/ground/mail-hosts.ts';
import { findTakeBackHint } from '../../../identity/ground/take-back-window.ts';
import {
  addOwnPasskey,
  describeOwnPasskeys,
  describeSignals,
  removeOwnPasskey,
  renameOwnPasskey,
} from '../../../identity/passkey/own-passkeys.ts';
import {
  addOfferedPasskey,
  declinePasskeyOffers,
  describePasskeyOffer,
} from '../../../identity/passkey/passkey-offer.ts';
import { cancelDeletion, requestDeletion } from '../../../identity/person/deletion.ts';
import { describeWaysToLogIn } from '../../../identity/person/ways-to-log-in.ts';
import { asksForFactor } from '../../../identity/recovery/take-back.ts';
import { isFresh } from '../../../identity/session/sessions.ts';
import { confirmed, person, router, setCookies, settingUp, settingUpConfirmed } from '../init.ts';

const addressRouter = router({
  describe: person.query(({ ctx }) => {
    const { email, holdsEmail, emailVerifiedAt } = ctx.session.user;
    return { email, holdsEmail, isVerified: emailVerifiedAt !== null };
  }),

  /** Throws 422 `validation_failed` at `/meant` if the email address looks mistyped. Checks nothing else. */
  requireMeant: person
    .input(z.object({ email: z.string(), isMeant: z.boolean() }))
    .query(({ input }) => requireMeant(input)),

  describeChange: person.query(async ({ ctx: { deps, session, request } }) => ({
    email: session.user.email,
    obstacle: findObstacle(session.user),
    asksForFactor: await asksForFactor(deps, session.user),
    /** Whether this browser is established. If it is, a factor that is added here protects the account immediately. */
    isEstablished: await isEstablishedBrowser(deps.db, deps, request, session.user.id),
  })),
});

const authenticatorRouter = router({
  /** Returns the authenticator app, and when we last mailed a take-back link to a user who must give a passkey first. */
  describe: settingUp
    .input(z.object({ clientNeedsFactor: z.boolean() }).optional())
    .query(async ({ ctx, input }) => {
      const described = await describeAuthenticator(ctx.deps, ctx, input?.clientNeedsFactor);
      const takeBackSentAt = described.mustUsePasskey
        ? await findTakeBackHint(ctx.deps, ctx.session.user.id)
        : undefined;
      return { ...described, takeBackSentAt };
    }),
  /** Makes a secret, which the browser keeps in a cookie. */
  startSetUp: settingUpConfirmed.mutation(async ({ ctx }) =>
    setCookies(ctx, [await startSetUp(ctx.deps, ctx)]),
  ),
  /** Returns the secret that waits for its code, or null. */
  findSetUp: settingUp.query(async ({ ctx }) => (await findSetUp(ctx.deps, ctx)) ?? null),
  add: settingUpConfirmed.input(z.object({ code: z.string() })).mutation(async ({ ctx, input }) => {
    const added = await addAuthenticator(ctx.deps, ctx, input);
    if (typeof added === 'string') return added;
    setCookies(ctx, [added.setCookie]);
    return added.codes;
  }),
  renewCodes: settingUpConfirmed.mutation(({ ctx }) => renewRecoveryCodes(ctx.deps, ctx)),
  remove: settingUpConfirmed.mutation(({ ctx }) => removeAuthenticator(ctx.deps, ctx)),
});

const securityRouter = router({
  describe: person.query(({ ctx }) => describeWaysToLogIn(ctx.deps, ctx)),
});

const id = z.string();
const name = z.string();

const passkeysRouter = router({
  describe: settingUp.query(({ ctx }) => describeOwnPasskeys(ctx.deps, ctx)),
  signals: settingUp.query(({ ctx }) => describeSignals(ctx.deps, ctx)),
  add: settingUpConfirmed
    .input(z.object({ name, passkey: z.string() }))
    .mutation(({ ctx, input }) => addOwnPasskey(ctx.deps, ctx, input)),
  rename: settingUpConfirmed
    .input(z.object({ id, name }))
    .mutation(({ ctx, input }) => renameOwnPasskey(ctx.deps, ctx, input)),
  remove: settingUpConfirmed
    .input(z.object({ id }))
    .mutation(({ ctx, input }) => removeOwnPasskey(ctx.deps, ctx, input.id)),

  /** Returns the offer of a passkey after a login with only a password. */
  describeOffer: person.query(({ ctx }) => describePasskeyOffer(ctx.deps, ctx)),
  addOffered: confirmed
    .input(z.object({ passkey: z.string() }))
    .mutation(({ ctx, input }) => addOfferedPasskey(ctx.deps, ctx, input.passkey)),
  declineOffers: person.mutation(({ ctx }) => declinePasskeyOffers(ctx.deps, ctx)),
});

const timeZonesRouter = router({
  /** `isOffered` says whether the page offers the browser's zone: soon after a login, until the user chooses one. */
  describe: person.query(({ ctx: { session, deps } }) => ({
    names: timeZones,
    isOffered: session.user.timeZone === null && isFresh(session, deps.now()),
  })),
});

const deletionRouter = router({
  request: confirmed.mutation(({ ctx }) => requestDeletion(ctx.deps, ctx)),
  cancel: person.mutation(({ ctx }) => cancelDeletion(ctx.deps, ctx)),
});

export const accountRouters = {
  address: addressRouter,
  authenticator: authenticatorRouter,
  passkeys: passkeysRouter,
  security: securityRouter,
  timeZones: timeZonesRouter,
  deletion: deletionRouter,
};
