// The only writer of `staff_notes`: what staff and operators wrote about a person.
import type { Database } from '../postgres/client.ts';

export type StaffNote = {
  id: string;
  text: string;
  at: Date;
  /** Null if an operator wrote it, or the author was erased. */
  authorId: string | null;
};

export const listNotes = (db: Database, userId: string): Promise<StaffNote[]> =>
  db
    .selectFrom('staff_notes')
    .select(['id', 'text', 'at', 'author_id as authorId'])
    .where('user_id', '=', userId)
    .orderBy('at', 'desc')
    .orderBy('id', 'desc')
    .execute();

export async function addNote(
  db: Database,
  { id, userId, authorId, text, at }: StaffNote & { userId: string },
): Promise<void> {
  const row = { id, user_id: userId, author_id: authorId, text, at };
  await db.insertInto('staff_notes').values(row).execute();
}

/** Returns false if the person has no such note. */
export async function deleteNote(
  db: Database,
  { id, userId }: { id: string; userId: string },
): Promise<boolean> {
  const query = db.deleteFrom('staff_notes').where('id', '=', id).where('user_id', '=', userId);
  return (await query.executeTakeFirst()).numDeletedRows === 1n;
}
