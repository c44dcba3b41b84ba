// Returns the mails that local mode kept instead of sending them.
import { listKeptMails } from '../../../../db/tables/kept-mails.ts';
import { AppError } from '../../../basics/errors.ts';
import { anonymous, router } from '../init.ts';

export const keptMailsRouter = router({
  /** Returns the newest mails first. Throws 404 `not_found` if the service really sends mails. */
  list: anonymous.query(({ ctx: { deps } }) => {
    if (deps.config.mail) throw new AppError('not_found');
    return listKeptMails(deps.db);
  }),
});
