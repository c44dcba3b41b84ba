// What each act of acts.ts works with.
import type { Transaction } from 'kysely';
import type { DB } from '../../db/schema.ts';
import type { User } from '../../db/tables/users.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { AuthorTrail, Recorder } from '../identity/ground/trail.ts';
import type { Visit } from '../web/requests.ts';

/** Who acts: somebody of the staff, or an operator by a command. */
export type Author =
  | { by: 'staff'; actorId: string; why: string; visit: Visit }
  | { by: 'operator'; why?: string | undefined; name: string; systemUser: string };

/** What an act works with. It has locked the person, and whoever acts. */
export type ActContext = {
  trx: Transaction<DB>;
  deps: Pick<Dependencies, 'now' | 'config' | 'endsWithPerson'>;
  target: User;
  author: Author;
  /** Throws 409 `last_admin` if no other administrator could log in. */
  requireOtherAdmin: () => Promise<void>;
  /** What events about the person say of the author. */
  trail: AuthorTrail;
  /** Records an event about the person, with that. */
  record: Recorder;
};
