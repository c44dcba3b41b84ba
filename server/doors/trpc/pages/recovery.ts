// Procedures for the pages of links that take an account back or give it a new email address.
import { z } from 'zod';
import { freeze } from '../../../identity/recovery/freeze.ts';
import {
  canStopNewAddress,
  findNewAddress,
  stopNewAddress,
  useNewAddress,
} from '../../../identity/recovery/new-address.ts';
import { findTakeBack, takeBack } from '../../../identity/recovery/take-back.ts';
import { anonymous, router, setCookies } from '../init.ts';

const link = z.object({ token: z.string() });
const given = link.extend({
  newPassword: z.string(),
  code: z.string().optional(),
  passkey: z.string().optional(),
});

export const takeBackRouter = router({
  find: anonymous
    .input(link)
    .query(async ({ ctx, input }) => (await findTakeBack(ctx.deps, input.token)) ?? null),

  use: anonymous
    .input(given)
    .mutation(async ({ ctx, input }) =>
      setCookies(ctx, await takeBack(ctx.deps, ctx.request, ctx.visit, input)),
    ),

  freeze: anonymous
    .input(link)
    .mutation(({ ctx, input }) => freeze(ctx.deps, ctx.request, ctx.visit, input.token)),
});

export const newAddressRouter = router({
  find: anonymous
    .input(link)
    .query(async ({ ctx, input }) => (await findNewAddress(ctx.deps, input.token)) ?? null),

  use: anonymous.input(given).mutation(async ({ ctx, input }) => {
    const done = await useNewAddress(ctx.deps, ctx.request, ctx.visit, input);
    if (done === 'taken') return done;
    setCookies(ctx, done);
    return 'done';
  }),

  canStop: anonymous.input(link).query(({ ctx, input }) => canStopNewAddress(ctx.deps, input.token)),

  stop: anonymous.input(link).mutation(({ ctx, input }) => stopNewAddress(ctx.deps, ctx.visit, input.token)),
});
