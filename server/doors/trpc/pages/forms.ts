// Keeps forms that were refused, so that their page can show them again.
import { z } from 'zod';
import { type FaultName, faultWords, nameFault } from '../../../basics/fault-words.ts';
import { sendsCookies } from '../../../identity/ground/form-answers.ts';
import { askAboutHost } from '../../../identity/ground/mail-hosts.ts';
import { dropDoneForm, findRefusedForm, keepRefusedForm } from '../../../identity/ground/refused-forms.ts';
import { findLastSessionUser } from '../../../identity/session/sessions.ts';
import { anonymous, lookUp, router, setCookies, type TrpcContext } from '../init.ts';

const words = z.record(z.string(), z.string());

const sayFault = (name: FaultName, fields: Record<string, string>): string =>
  (name === 'email_slip' && askAboutHost(fields.email ?? '', false)[0]?.detail) || faultWords[name];

const isKnown = (fault: readonly [string, FaultName | undefined]): fault is readonly [string, FaultName] =>
  fault[1] !== undefined;

async function findUserId(ctx: TrpcContext): Promise<string | null> {
  const found = await lookUp(ctx);
  return found && found.state !== 'suspended' ? found.user.id : null;
}

export const formsRouter = router({
  /**
   * Keeps a form for its page and for the logged-in user. `faults` are sentences of server/basics/fault-words.ts. Other
   * sentences are allowed only if `isLarge`. Returns the id of the form, or null if a sentence is not allowed or there is no
   * room for the form.
   */
  keep: anonymous
    .input(
      z.object({
        path: z.string(),
        code: z.string(),
        faults: words,
        waitSeconds: z.int().optional(),
        fields: words,
        isLarge: z.boolean(),
      }),
    )
    .mutation(async ({ ctx, input: { faults, waitSeconds, isLarge, ...form } }) => {
      // A browser without cookies gets the refusal immediately (contract 9.171).
      if (!sendsCookies(ctx.deps, ctx.request)) return null;
      const isEnded = form.code === 'ended';
      const userId = isEnded ? await findLastSessionUser(ctx.deps, ctx.request) : await findUserId(ctx);
      // If the session has ended, the form is kept for the session's user. If that user is unknown, nobody could get the form
      // back.
      if (isEnded && !userId) return null;
      const named = Object.entries(faults).map(
        ([field, each]) => [field, field === 'meant' ? 'email_slip' : nameFault(each)] as const,
      );
      const known = named.filter(isKnown);
      const isUnnamed = ([field]: [string, string]) => !known.some(([each]) => each === field);
      const unnamed = Object.entries(faults).filter(isUnnamed);
      if (unnamed.length > 0 && !isLarge) return null;
      const waitsUntil = waitSeconds && Math.floor(ctx.deps.now().getTime() / 1_000) + waitSeconds;
      const refused = {
        ...{ ...form, userId, faults: Object.fromEntries(known), waitsUntil },
        ...(unnamed.length > 0 && { words: Object.fromEntries(unnamed) }),
      };
      const kept = await keepRefusedForm(ctx.deps, ctx.request, refused, { isLarge });
      if (!kept) return null;
      setCookies(ctx, [kept.setCookie]);
      return kept.id;
    }),

  /** Forgets a form that waited for a credential or a login, once its work is done. */
  dropDone: anonymous.input(z.object({ id: z.string() })).mutation(async ({ ctx, input }) => {
    const dropped = await dropDoneForm(ctx.deps, ctx.request, input.id);
    if (dropped) setCookies(ctx, [dropped]);
  }),

  /** Returns the form that was kept for this page and for the logged-in user, or null. */
  find: anonymous.input(z.object({ id: z.string(), path: z.string() })).query(async ({ ctx, input }) => {
    const kept = await findRefusedForm(ctx.deps, ctx.request, { ...input, userId: await findUserId(ctx) });
    if (!kept) return null;
    const { code, fields, faults, words: unnamed, waitsUntil } = kept;
    const said = Object.entries(faults).map(([field, name]) => [field, sayFault(name, fields)]);
    const seconds = waitsUntil && waitsUntil - Math.floor(ctx.deps.now().getTime() / 1_000);
    return {
      code,
      fields,
      faults: { ...(Object.fromEntries(said) as Record<string, string>), ...unnamed },
      waitSeconds: seconds && Math.max(1, seconds),
    };
  }),
});
