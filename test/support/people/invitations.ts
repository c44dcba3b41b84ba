// People who are invited to the staff.
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { InvitedRole } from '../../../db/tables/staff-invitations.ts';
import { actAsOperator } from '../../../server/acts/act.ts';
import { endsWithPerson } from '../../../server/billing/customers/ends-with-person.ts';
import { invitationActs } from '../../../server/staff/invitations.ts';
import type { TestApp } from '../app/app.ts';
import type { TestBackend } from '../app/backend.ts';
import { readToken } from './kept-mail.ts';

/** Invites as an operator does, and returns the path of the link. */
export async function inviteByCommand(
  { app, other, now = new Date() }: { app: Pick<TestApp, 'db' | 'config'>; other: TestBackend; now?: Date },
  email: string,
  role: InvitedRole = 'manager',
): Promise<string> {
  const author = { by: 'operator', name: 'Olga', systemUser: 'root' } as const;
  const deps = { endsWithPerson, config: app.config, now: () => now };
  await inTransaction(app.db, { by: 'operator', cause: 'test' }, (trx) =>
    actAsOperator(trx, deps, invitationActs.invite, { given: { email, role }, author }),
  );
  return `/invitation?token=${await readToken(other, email, 'invitation')}`;
}
