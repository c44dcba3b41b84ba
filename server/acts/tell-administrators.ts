// Warnings to administrators of what one of them, or an operator, did (contract 12.163 to 12.165): a stolen session of an
// administrator does not act unseen.
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import { listAdmins } from '../../db/tables/deletions.ts';
import type { WarningKind } from '../../db/tables/mail-kinds.ts';
import { deferMail } from '../../db/tables/mails.ts';
import type { Dependencies } from '../ground/dependencies.ts';

type Warning = {
  kind: WarningKind;
  /** The id of the administrator who did it, whom the mail names. Undefined for an operator's command. */
  actorId: string | undefined;
  /** Whether that administrator gets the mail, too. */
  tellsActor?: boolean;
  /** The id of the user whom it is about, whom the mail names. They do not get it: they have a notice of their own. */
  about?: string;
  /** What else the words of the mail need: nothing that somebody typed. */
  details?: Record<string, string>;
};

/**
 * Mails each other administrator who can log in, in the transaction of what the mail tells of, whatever the limits of notices.
 */
export async function tellOtherAdministrators(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  { kind, actorId, tellsActor = false, about, details }: Warning,
): Promise<void> {
  const at = now();
  const said = {
    at: at.toISOString(),
    by: actorId ?? 'command',
    ...(about !== undefined && { who: about }),
    ...details,
  };
  for (const { id: userId, email: recipient } of await listAdmins(trx))
    if (userId !== about && (tellsActor || userId !== actorId))
      deferMail(trx, { kind, userId, recipient, details: said, now: at });
}
