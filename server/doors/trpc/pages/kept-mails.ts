// Local mode: the mails that were not sent.
import { listKeptMails } from '../../../../db/tables/kept-mails.ts';
import { AppError } from '../../../basics/errors.ts';
import { anonymous, router } from '../init.ts';

export const keptMailsRouter = router({
  /** The newest mails first. Throws 404 `not_found` if mails are really sent. */
  list: anonymous.query(({ ctx: { deps } }) => {
    if (deps.config.mail) throw new AppError('not_found');
    return listKeptMails(deps.db);
  }),
});
