// Tells administrators what another administrator or an operator did (contract 12.163 and 12.164). So a thief of an
// administrator's account cannot act unseen.
import type { Transaction } from 'kysely';
import type { DB } from '../../../db/schema.ts';
import { listAdmins } from '../../../db/tables/deletions.ts';
import type { WarningKind } from '../../../db/tables/mail-kinds.ts';
import { deferMail } from '../../../db/tables/mails.ts';
import type { Dependencies } from '../../ground/dependencies.ts';

type Warning = {
  kind: WarningKind;
  /** Undefined for an operator's command, and for a warning that the service itself sends. */
  actorId?: string | undefined;
  tellsActor?: boolean;
  /** The user that the warning is about. This user does not get the warning, but a notice of their own. */
  about?: string;
  /**
   * For an event that nobody caused. Each administrator gets at most one mail in 30 days, even if several transactions report the
   * event: the key of the mail is taken until the sweep deletes the mail.
   */
  isOnce?: boolean;
  /** Must contain nothing that somebody typed, except the name of a client. */
  details?: Record<string, string>;
};

// Until 1.2.0, an instance of 1.0.0 may use the same database. Such an instance does not know these kinds of mail, and must not
// send them. It fails on every mail without `at`, so mails of these kinds have no `at`.
const newKinds: WarningKind[] = ['client_changed', 'no_seller'];

/** Call it in the transaction of the change that the mail reports. The limits of notices do not apply. */
export async function tellOtherAdministrators(
  trx: Transaction<DB>,
  { now }: Pick<Dependencies, 'now'>,
  { kind, actorId, tellsActor = false, about, isOnce = false, details }: Warning,
): Promise<void> {
  const at = now();
  const said = {
    [newKinds.includes(kind) ? 'since' : 'at']: at.toISOString(),
    ...(!isOnce && { by: actorId ?? 'command' }),
    ...(about !== undefined && { who: about }),
    ...details,
  };
  for (const { id: userId, email: recipient } of await listAdmins(trx))
    if (userId !== about && (tellsActor || userId !== actorId))
      deferMail(trx, {
        ...{ kind, userId, recipient, details: said, now: at },
        ...(isOnce && { key: `${kind}:${userId}` }),
      });
}
