// A login in one statement: its session and its audit event, in place of the session that the browser had and of the
// tries before, and only for a user who still has the password that was verified. One by one they would be five round
// trips.
import type { Database } from './client.ts';
import { prepare } from './prepared.ts';
import type { NewSession } from './sessions.ts';

export type PasswordProof = {
  /** What was verified; hashing took a while, and it may have been replaced meanwhile. */
  passwordHash: string;
  /** Where `rate_limits` counts the tries at the e-mail address. */
  triesKey: string;
};

type Login = NewSession &
  PasswordProof & {
    previousTokenHash: Uint8Array | null;
    auditEventId: string;
    requestId: string;
  };

const insert = prepare((db, login: Login) =>
  db
    .with('holder', (query) =>
      query
        .selectFrom('users')
        .select('id')
        .where('id', '=', login.userId)
        .where('password_hash', '=', login.passwordHash)
        .where('suspended_at', 'is', null)
        // Waits for a change under way, and then looks at what has come of it.
        .forShare(),
    )
    .with('previous', (query) =>
      query
        .updateTable('sessions')
        .from('holder')
        .set({ ended_at: login.now })
        .where('token_hash', '=', login.previousTokenHash)
        .where('ended_at', 'is', null),
    )
    .with('forgiven', (query) =>
      query.deleteFrom('rate_limits').using('holder').where('rate_limits.key', '=', login.triesKey),
    )
    .with('event', (query) =>
      query
        .insertInto('audit_events')
        .columns(['id', 'type', 'user_id', 'address', 'request_id', 'details'])
        .expression((eb) =>
          eb
            .selectFrom('holder')
            .select(({ val }) => [
              val(login.auditEventId).as('event_id'),
              val('login.succeeded').as('type'),
              'holder.id',
              val(login.address).as('address'),
              val(login.requestId).as('request_id'),
              val('{}').as('details'),
            ]),
        ),
    )
    .insertInto('sessions')
    .columns(['id', 'token_hash', 'user_id', 'created_at', 'last_seen_at', 'address', 'user_agent'])
    .expression((eb) =>
      eb
        .selectFrom('holder')
        .select(({ val }) => [
          val(login.id).as('session_id'),
          val(login.tokenHash).as('token_hash'),
          'holder.id',
          val(login.now).as('created_at'),
          val(login.now).as('last_seen_at'),
          val(login.address).as('address'),
          val(login.userAgent).as('user_agent'),
        ]),
    ),
);

/** False where the password was changed, or the user suspended, since it was verified: then nothing has changed. */
export async function insertLogin(db: Database, login: Login): Promise<boolean> {
  return (await insert(db, login)).numAffectedRows === 1n;
}
