// Which staff may do what, and to whom (contract 12.8 to 12.12).
import type { InternalRole, User } from '../../db/tables/users.ts';

export type StaffRole = Exclude<InternalRole, 'user'>;

type Whom = 'nobody' | 'customers' | 'everybody';

/** Whom staff may act on. By default, managers may act on nobody, and administrators on everybody. */
export type Right = {
  manager?: Whom;
  admin?: Whom;
  /** True if the act concerns everybody in the person's account. */
  isAboutAccount?: true;
};

export const looks = {
  'people.find': { manager: 'everybody' },
  // Managers see staff only in a short form (contract 12.9).
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
  'invitations.list': {},
} satisfies Record<string, Right>;

const whomOf = ({ manager = 'nobody', admin = 'everybody' }: Right, role: StaffRole): Whom =>
  role === 'admin' ? admin : manager;

export const isStaffRole = (role: InternalRole): role is StaffRole => role !== 'user';

/** Returns whether the role may do acts, and see pages, that are about no person (contract 7.123). */
export const mayDo = (right: Right, role: StaffRole): boolean => whomOf(right, role) === 'everybody';

export const mayLook = (right: Right, role: StaffRole, target: Pick<User, 'role'>): boolean =>
  isAmong(whomOf(right, role), target);

/** `people` are the people in the buyer's account. If the account is erased, the list is empty (contract 7.151). */
export const mayLookAtDocuments = (role: StaffRole, people: Pick<User, 'role'>[]): boolean =>
  role === 'admin' || (people.length > 0 && people.every((person) => !isStaffRole(person.role)));

/** The first of `people` is the person that the act is about. The others in the account follow. */
export type About = { accountId: string | null; people?: Pick<User, 'role'>[] };

/** Staff may do nothing in their own account. */
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
