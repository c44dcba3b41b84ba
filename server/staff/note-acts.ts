// Notes of staff on people (contract 12.233 to 12.237).
import { v7 as uuidv7 } from 'uuid';
import { z } from 'zod';
import type { Database } from '../../db/postgres/client.ts';
import { addNote, deleteNote, listNotes } from '../../db/tables/staff-notes.ts';
import type { User } from '../../db/tables/users.ts';
import { act, person } from '../acts/act.ts';
import { readBy, refuse } from '../acts/fields.ts';
import { invalidMember } from '../basics/errors.ts';
import { faultWords } from '../basics/fault-words.ts';
import { isVisible, notShown } from '../basics/names.ts';
import { textBounds } from '../basics/text.ts';
import { requireAllowance, spendAllowance } from '../identity/ground/allowances.ts';
import type { Person } from './person.ts';

const most = 100;

/**
 * Each new note makes open forms out of date. So if two members of the staff write at the same time, the second one reads the
 * other note first.
 */
const formBasis = async (db: Database, { id }: User) => (await listNotes(db, id)).map((note) => note.id);

function readNote(typed: string): string {
  const text = typed.trim();
  // The end of a text that was longer than this bound has already been cut off (text.ts). A cut text must not be kept as a note.
  const isCut = typed.length > textBounds.text;
  if (isCut || !isVisible(text) || [...text].length > 500) refuse('note_length');
  if (notShown.test(text)) refuse('note_not_shown');
  return text;
}

export const leaveNote = act({
  about: person,
  right: { name: 'people.addNote', manager: 'customers' },
  event: 'staff.note',
  hasNoWhy: true,
  offers: () => [{}],
  command: { name: 'user:note', takes: { text: '<text>' } },
  fields: { text: readNote },
  formBasis,
  requireAllowance: ({ db }, _target, actorId) => requireAllowance(db, 'staff.note', actorId),
  async do({ trx, deps, target: { id: userId }, author }, { text }) {
    if ((await listNotes(trx, userId)).length >= most) throw invalidMember('/text', faultWords.notes_full);
    const authorId = author.by === 'staff' ? author.actorId : null;
    if (authorId) await spendAllowance(trx, 'staff.note', authorId);
    await addNote(trx, { id: uuidv7(), userId, authorId, text, at: deps.now() });
    return {};
  },
});

const readNoteId = readBy(z.uuid().toLowerCase(), 'note_gone');

export const removeNote = act({
  about: person,
  right: { name: 'people.deleteNote' },
  event: 'staff.delete_note',
  offers: ({ notes }: Person) => notes.map(({ id: note }) => ({ note })),
  fields: { note: readNoteId },
  formBasis,
  do: async ({ trx, target: { id: userId } }, { note: id }) =>
    (await deleteNote(trx, { id, userId })) ? {} : undefined,
});
