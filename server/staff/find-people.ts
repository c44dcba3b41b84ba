// Finding people.
import { selectUsers, toUser } from '../../db/tables/users.ts';
import type { Dependencies } from '../instance/dependencies.ts';
import { stateOf } from './person.ts';

export async function findPeople(
  { db }: Pick<Dependencies, 'db'>,
  { q }: { q: string; role?: string; state?: string },
) {
  const rows = await selectUsers(db).where('u.email', 'like', `${q}%`).limit(51).execute();
  const people = rows.map(toUser).map((user) => ({
    id: user.id,
    email: user.email,
    name: user.name,
    account: user.account.name,
    role: user.role,
    state: stateOf(user),
  }));
  return { people: people.slice(0, 50), more: people.length > 50 };
}
