// Who of the staff may do what, and to whom (contract 12.8 to 12.12).
import type { InternalRole, User } from '../../db/tables/users.ts';

export type StaffRole = Exclude<InternalRole, 'user'>;

type Whom = 'nobody' | 'customers' | 'everybody';

/** Managers may do it to nobody and administrators to everybody, unless it says otherwise. */
export type Right = {
  manager?: Whom;
  admin?: Whom;
  /** What is about the account counts as about everybody in it. */
  isAboutAccount?: true;
};

/** What staff may look at, by procedure of `admin`. Each act states its own right. */
export const looks = {
  'people.find': { manager: 'everybody' },
  // A manager gets the short form of staff (contract 12.9).
  'people.get': { manager: 'everybody' },
  'people.wouldGet': { manager: 'customers' },
  'audit.list': { manager: 'everybody' },
  'overview.get': {},
  'billing.settings': {},
  'files.list': {},
  'billing.summary': {},
  'billing.contracts': {},
  'billing.invoices': {},
  'billing.preview': {},
  'clients.list': {},
  'mails.list': {},
} satisfies Record<string, Right>;

const whomOf = ({ manager = 'nobody', admin = 'everybody' }: Right, role: StaffRole): Whom =>
  role === 'admin' ? admin : manager;

export const isStaffRole = (role: InternalRole): role is StaffRole => role !== 'user';

/** Whether somebody of the staff may do what is about no person (contract 7.123). */
export const mayDo = (right: Right, role: StaffRole): boolean => whomOf(right, role) === 'everybody';

/** Whether somebody of the staff may look at that person in that way. */
export const mayLook = (right: Right, role: StaffRole, target: Pick<User, 'role'>): boolean =>
  isAmong(whomOf(right, role), target);

/** Whose a thing is. `people` are those whom it is about, first the person it is done to, then the others of the account. */
export type About = { accountId: string | null; people?: Pick<User, 'role'>[] };

/** Whether somebody of the staff may do that about it. Nothing is done about what is of one's own account. */
export function mayAct(
  right: Right,
  { account, role }: Pick<User, 'account' | 'role'>,
  { accountId, people = [] }: About,
): boolean {
  if (!isStaffRole(role) || account.id === accountId) return false;
  const whom = whomOf(right, role);
  const about = right.isAboutAccount ? people : people.slice(0, 1);
  return whom !== 'nobody' && about.every((person) => isAmong(whom, person));
}

const isAmong = (whom: Whom, { role }: Pick<User, 'role'>) =>
  whom === 'everybody' || (whom === 'customers' && role === 'user');
