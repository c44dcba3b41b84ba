// Accounts elsewhere, and products, of somebody who is logged in.

import { z } from 'zod';
import { textSchema } from '../http/text.ts';
import { listOwnLinks, listOwnProducts, removeOwnLink } from '../identity/own-links.ts';
import { provider } from '../marketplace/accept-profile.ts';
import { externalIdSchema } from '../marketplace/payload.ts';
import { findLastConnect } from '../marketplace/pending-hand-off.ts';
import { authenticated, router } from './init.ts';

export const linksRouter = router({
  list: authenticated.query(({ ctx }) => listOwnLinks(ctx.services, ctx)),

  lastConnect: authenticated.query(({ ctx }) => findLastConnect(ctx.services, ctx)),

  remove: authenticated
    .input(
      z.object({
        provider: z.literal(provider),
        externalId: externalIdSchema,
        currentPassword: textSchema('currentPassword'),
      }),
    )
    .mutation(({ ctx, input }) => removeOwnLink(ctx.services, ctx, input)),
});

export const productsRouter = router({
  list: authenticated.query(({ ctx }) => listOwnProducts(ctx.services, ctx)),
});
