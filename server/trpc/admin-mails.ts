// What administrators see of mails that have not left, and do about them (contract 12.120 to 12.129).
import { z } from 'zod';
import { mailStates } from '../../db/tables/unsent-mails.ts';
import { textSchema } from '../http/text.ts';
import { requireRight } from '../staff/act-on-books.ts';
import { giveUpMailAct, listMails, readPlace, retryMailAct } from '../staff/mails.ts';
import { countSearch, recordSearch } from '../staff/staff.ts';
import { act } from './admin-money.ts';
import { router, staff } from './init.ts';

const filters = z
  .object({
    state: z.enum(mailStates),
    kind: textSchema('kind'),
    before: textSchema('before').transform((text, { addIssue }) => {
      const place = readPlace(text);
      if (!place) addIssue({ code: 'custom', message: 'It must be the `next` of a page.' });
      return place;
    }),
  })
  .partial()
  .default({});

export const mailsRouter = router({
  /** 50 of those that failed or were given up, or of one state; `next` is for the page after. */
  list: staff
    .use(({ ctx, next }) => {
      requireRight(ctx, 'mails.list');
      return next();
    })
    .input(filters)
    .query(async ({ ctx, input }) => {
      // It names people, 50 at a time.
      await countSearch(ctx.deps, ctx);
      const listed = await listMails(ctx.deps, ctx, input);
      await recordSearch(ctx.deps, ctx, listed.people.length);
      return listed;
    }),
  retry: act(retryMailAct, 'id'),
  giveUp: act(giveUpMailAct, 'id'),
});
