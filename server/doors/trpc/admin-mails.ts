// The procedures for what administrators see of clients, and do about unsent mails (contract 12.120 to 12.131).
import { z } from 'zod';
import { mailSorts, mailStates } from '../../../db/tables/unsent-mails.ts';
import { type Staff, searchAsStaff } from '../../acts/staff.ts';
import { textSchema } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { clientActs } from '../../staff/client-acts.ts';
import { listClients } from '../../staff/clients.ts';
import { listMails, mailActs, mailSortsOf, readPlace } from '../../staff/mails.ts';
import { choice, proceduresOf } from './acts.ts';
import { allowed, router } from './init.ts';

const filters = z
  .object({
    state: z.enum(mailStates),
    kind: textSchema('kind'),
    q: textSchema('q'),
    sort: choice('sort', mailSorts),
    before: textSchema('before').transform((text, { addIssue }) => {
      const place = readPlace(text);
      if (!place) addIssue({ code: 'custom', message: 'It must be the `next` of a page.' });
      return place;
    }),
  })
  .partial()
  .refine(({ state, sort }) => !sort || mailSortsOf(state).includes(sort), { path: ['sort'] })
  .default({});

export const clientsRouter = router({
  /** Returns clients in the order of the settings. */
  list: allowed('clients.list').query(({ ctx }) => listClients(ctx.deps)),
  ...proceduresOf('clients', clientActs),
});

export const mailsOf = allowed('mails.list').input(filters);

/** A page names up to 50 people, so it counts as a search. */
export const readMails = (ctx: Staff & { deps: Dependencies }, asked: z.output<typeof filters>) =>
  searchAsStaff(ctx, 'people', () => listMails(ctx.deps, ctx, asked));

export const mailsRouter = router({
  /** Returns a page of 50 mails of one state. Without a state, returns mails that failed or were given up. */
  list: mailsOf.query(({ ctx, input }) => readMails(ctx, input)),
  ...proceduresOf('mails', mailActs),
});
