import { z } from 'zod';
import { textSchema } from '../../basics/text.ts';
import { listOwnProducts } from '../../billing/customers/own-products.ts';
import { listOwnLinks, removeOwnLink } from '../../identity/person/own-links.ts';
import { provider } from '../../marketplace/accept-profile.ts';
import { externalIdSchema } from '../../marketplace/payload.ts';
import { findLastConnect } from '../../marketplace/pending-hand-off.ts';
import { person, router } from './init.ts';

export const linksRouter = router({
  list: person.query(({ ctx }) => listOwnLinks(ctx.deps, ctx)),

  lastConnect: person.query(({ ctx }) => findLastConnect(ctx.deps, ctx)),

  remove: person
    .input(
      z.object({
        provider: z.literal(provider),
        externalId: externalIdSchema,
        currentPassword: textSchema('currentPassword'),
      }),
    )
    .mutation(({ ctx, input }) => removeOwnLink(ctx.deps, ctx, input)),
});

export const productsRouter = router({
  list: person.query(({ ctx }) => listOwnProducts(ctx.deps, ctx)),
});
