// Who of the staff may do what, and to whom (contract 12.8 to 12.12): the one table that procedures, pages and documents read.
import type { InternalRole, User } from '../../db/tables/users.ts';

export type StaffRole = Exclude<InternalRole, 'user'>;

type Whom = 'nobody' | 'customers' | 'everybody';

type Right = Record<StaffRole, Whom> & {
  /** What is about the account counts as about everybody in it. */
  isAboutAccount?: true;
};

/** By procedure of `admin`. */
export const rights = {
  'people.find': { manager: 'everybody', admin: 'everybody' },
  // A manager gets the short form of staff (contract 12.9).
  'people.get': { manager: 'everybody', admin: 'everybody' },
  'people.wouldGet': { manager: 'customers', admin: 'everybody' },
  'audit.list': { manager: 'everybody', admin: 'everybody' },

  'overview.get': { manager: 'nobody', admin: 'everybody' },

  'people.suspend': { manager: 'customers', admin: 'everybody' },
  'people.resume': { manager: 'customers', admin: 'everybody' },
  'people.endSession': { manager: 'customers', admin: 'everybody' },
  'people.endSessions': { manager: 'customers', admin: 'everybody' },
  'people.sendMail': { manager: 'customers', admin: 'everybody' },
  'people.removeFactors': { manager: 'customers', admin: 'everybody' },
  'people.decide': { manager: 'customers', admin: 'everybody', isAboutAccount: true },
  'people.freeze': { manager: 'nobody', admin: 'everybody' },
  'people.setRole': { manager: 'nobody', admin: 'everybody' },
  'people.planDeletion': { manager: 'nobody', admin: 'everybody' },
  'people.keep': { manager: 'nobody', admin: 'everybody' },
  'people.changeEmail': { manager: 'nobody', admin: 'customers' },
  'people.thaw': { manager: 'nobody', admin: 'everybody' },
  'people.removeLink': { manager: 'nobody', admin: 'everybody' },

  'billing.recordPayment': { manager: 'nobody', admin: 'everybody' },
  'billing.credit': { manager: 'nobody', admin: 'everybody' },
  'billing.reissue': { manager: 'nobody', admin: 'everybody' },
  'billing.allocate': { manager: 'nobody', admin: 'everybody' },
  'billing.paidBack': { manager: 'nobody', admin: 'everybody' },
  'billing.cancelContract': { manager: 'nobody', admin: 'everybody' },
  'billing.checkVatId': { manager: 'nobody', admin: 'everybody', isAboutAccount: true },
  'billing.acceptCountry': { manager: 'nobody', admin: 'everybody', isAboutAccount: true },
  // The books are about nobody of the staff's choice.
  'billing.settings': { manager: 'nobody', admin: 'everybody' },
  'billing.setSettings': { manager: 'nobody', admin: 'everybody' },
  'billing.stopSettings': { manager: 'nobody', admin: 'everybody' },
  'files.list': { manager: 'nobody', admin: 'everybody' },
  'billing.summary': { manager: 'nobody', admin: 'everybody' },
  'billing.contracts': { manager: 'nobody', admin: 'everybody' },
  'billing.invoices': { manager: 'nobody', admin: 'everybody' },
  'billing.preview': { manager: 'nobody', admin: 'everybody' },

  'clients.list': { manager: 'nobody', admin: 'everybody' },
  'mails.list': { manager: 'nobody', admin: 'everybody' },
  'mails.retry': { manager: 'nobody', admin: 'everybody' },
  'mails.giveUp': { manager: 'nobody', admin: 'everybody' },
} satisfies Record<string, Right>;

export type RightName = keyof typeof rights;

export const isStaffRole = (role: InternalRole): role is StaffRole => role !== 'user';

/** Whether somebody of the staff may do what is about no person (contract 7.123). */
export const mayDo = (name: RightName, role: StaffRole): boolean => rights[name][role] === 'everybody';

/** Whether somebody of the staff may look at that person in that way. */
export const mayLook = (name: RightName, role: StaffRole, target: Pick<User, 'role'>): boolean =>
  isAmong(rights[name][role], target);

/** Whose a thing is. `people` are those whom it is about, first the person it is done to, then the others of the account. */
export type About = { accountId: string | null; people?: Pick<User, 'role'>[] };

/** Whether somebody of the staff may do that about it. Nothing is done about what is of one's own account. */
export function mayAct(
  name: RightName,
  { account, role }: Pick<User, 'account' | 'role'>,
  { accountId, people = [] }: About,
): boolean {
  if (!isStaffRole(role) || account.id === accountId) return false;
  const right: Right = rights[name];
  const about = right.isAboutAccount ? people : people.slice(0, 1);
  return right[role] !== 'nobody' && about.every((person) => isAmong(right[role], person));
}

const isAmong = (whom: Whom, { role }: Pick<User, 'role'>) =>
  whom === 'everybody' || (whom === 'customers' && role === 'user');
