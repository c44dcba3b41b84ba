// What administrators see of clients, and of mails that have not left, and what they do about these (contract 12.120 to 12.132).
import { z } from 'zod';
import { mailStates } from '../../../db/tables/unsent-mails.ts';
import { type Staff, searchAsStaff } from '../../acts/staff.ts';
import { textSchema } from '../../basics/text.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { listClients } from '../../staff/clients.ts';
import { listMails, mailActs, readPlace } from '../../staff/mails.ts';
import { proceduresOf } from './acts.ts';
import { allowed, router } from './init.ts';

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

export const clientsRouter = router({
  /** What is set and counted of each, in the order of the settings. */
  list: allowed('clients.list').query(({ ctx }) => listClients(ctx.deps)),
});

export const mailsOf = allowed('mails.list').input(filters);

/** It names people, 50 at a time. */
export const readMails = (ctx: Staff & { deps: Dependencies }, asked: z.output<typeof filters>) =>
  searchAsStaff(ctx, 'people', () => listMails(ctx.deps, ctx, asked));

export const mailsRouter = router({
  /** 50 of those that failed or were given up, or of one state; `next` is for the page after. */
  list: mailsOf.query(({ ctx, input }) => readMails(ctx, input)),
  ...proceduresOf('mails', mailActs),
});
