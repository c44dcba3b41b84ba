// What the pages of one's own account do, beside the procedures that programs have, too.
import { z } from 'zod';
import { findObstacle } from '../../identity/address/change-email.ts';
import {
  addAuthenticator,
  describeAuthenticator,
  offerAuthenticator,
  removeAuthenticator,
  renewRecoveryCodes,
  repeatOffer,
} from '../../identity/factor/authenticator.ts';
import { isEstablishedBrowser } from '../../identity/ground/established-browsers.ts';
import { requireMeant } from '../../identity/ground/mail-hosts.ts';
import { findTakeBackHint } from '../../identity/ground/take-back-window.ts';
import {
  addOwnPasskey,
  describeOwnPasskeys,
  removeOwnPasskey,
  renameOwnPasskey,
} from '../../identity/passkey/own-passkeys.ts';
import { cancelDeletion, requestDeletion } from '../../identity/person/deletion.ts';
import { asksForFactor } from '../../identity/recovery/take-back.ts';
import { confirmed, person, router, settingUp, settingUpConfirmed } from '../init.ts';

export const addressRouter = router({
  describe: person.query(({ ctx }) => {
    const { email, holdsEmail, emailVerifiedAt } = ctx.session.user;
    return { email, holdsEmail, isVerified: emailVerifiedAt !== null };
  }),

  /** Throws 422 `validation_failed` at `/meant` for an address that looks like a slip. Looks at nothing else. */
  requireMeant: person
    .input(z.object({ email: z.string(), isMeant: z.boolean() }))
    .query(({ input }) => requireMeant(input)),

  describeChange: person.query(async ({ ctx: { deps, session, request } }) => ({
    email: session.user.email,
    obstacle: findObstacle(session.user),
    asksForFactor: await asksForFactor(deps, session.user),
    /** Whether a factor that is added in this browser counts at once. */
    isEstablished: await isEstablishedBrowser(deps.db, deps, request, session.user.id),
  })),
});

const sealed = z.string();

export const authenticatorRouter = router({
  /** The authenticator app, and when we last mailed a take-back link to a user who must give a passkey first. */
  describe: settingUp.query(async ({ ctx }) => {
    const described = await describeAuthenticator(ctx.deps, ctx);
    const takeBackSentAt = described.mustUsePasskey
      ? await findTakeBackHint(ctx.deps, ctx.session.user.id)
      : undefined;
    return { ...described, takeBackSentAt };
  }),
  offer: settingUpConfirmed.mutation(({ ctx }) => offerAuthenticator(ctx.deps, ctx)),
  repeatOffer: settingUp
    .input(z.object({ sealed }))
    .query(({ ctx, input }) => repeatOffer(ctx.deps, ctx, input.sealed)),
  add: settingUpConfirmed
    .input(z.object({ sealed, code: z.string() }))
    .mutation(({ ctx, input }) => addAuthenticator(ctx.deps, ctx, input)),
  renewCodes: settingUpConfirmed.mutation(({ ctx }) => renewRecoveryCodes(ctx.deps, ctx)),
  remove: settingUpConfirmed.mutation(({ ctx }) => removeAuthenticator(ctx.deps, ctx)),
});

const id = z.string();
const name = z.string();

export const passkeysRouter = router({
  describe: settingUp.query(({ ctx }) => describeOwnPasskeys(ctx.deps, ctx)),
  add: settingUpConfirmed
    .input(z.object({ name, passkey: z.string() }))
    .mutation(({ ctx, input }) => addOwnPasskey(ctx.deps, ctx, input)),
  rename: settingUpConfirmed
    .input(z.object({ id, name }))
    .mutation(({ ctx, input }) => renameOwnPasskey(ctx.deps, ctx, input)),
  remove: settingUpConfirmed
    .input(z.object({ id }))
    .mutation(({ ctx, input }) => removeOwnPasskey(ctx.deps, ctx, input.id)),
});

export const deletionRouter = router({
  request: confirmed.mutation(({ ctx }) => requestDeletion(ctx.deps, ctx)),
  cancel: person.mutation(({ ctx }) => cancelDeletion(ctx.deps, ctx)),
});
