// A person's page, for the member of the staff who looks at it (contract 12.9 and 12.17).
import type { User } from '../../db/tables/users.ts';
import { digestBasis, digestFormBasis, findPerson } from '../acts/act.ts';
import { isStaffRole, mayAct, mayLookAtDocuments, type StaffRole } from '../acts/rights.ts';
import { countLook, type Staff } from '../acts/staff.ts';
import { AppError } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type ActForm, buildForms } from './act-forms.ts';
import { basisOfContract, paymentActs } from './payment-acts.ts';
import { peopleActs } from './people-acts.ts';
import { describePerson } from './person.ts';

/** All that a manager sees of a member of the staff. */
type StaffPerson = Pick<User, 'id' | 'email' | 'name' | 'role'>;

/**
 * Everything that staff see of a person. `seen` has a digest for each act that the caller may use, by the act's intent. The
 * digest is of the facts that the act's form is made from. Throws 404 `not_found`, and 429 `rate_limited`.
 */
export async function getPerson(
  deps: Dependencies,
  staff: Staff,
  id: string,
): Promise<SeenPerson | StaffPerson> {
  const target = await findPerson(deps.db, id);
  if (!target) throw new AppError('not_found');
  await countLook(deps, staff, { userId: id });
  const { email, name, role } = target;
  const { user: actor } = staff.session;
  if (actor.role === 'manager' && isStaffRole(role)) return { id, email, name, role };
  return describeForStaff(deps, actor, target);
}

type SeenPerson = Awaited<ReturnType<typeof describeForStaff>>;

async function describeForStaff(deps: Dependencies, actor: User & { role: StaffRole }, target: User) {
  const { db, now } = deps;
  const { timeZone } = actor;
  const described = await describePerson(deps, target, { isManager: actor.role === 'manager', timeZone });
  const about = { accountId: target.account.id, people: [target, ...described.account.others] };
  const intents = (Object.keys(peopleActs) as PersonIntent[]).filter((intent) =>
    mayAct(peopleActs[intent].right, actor, about),
  );
  // The same right covers both acts about contracts.
  const mayCancel = mayAct(paymentActs.cancel.right, actor, { accountId: target.account.id });
  return {
    ...described,
    contracts: described.contracts.map((contract) => ({
      ...contract,
      ...(mayCancel && { seen: digestBasis(basisOfContract(contract)) }),
    })),
    opensInvoices: mayLookAtDocuments(actor.role, about.people),
    isOneself: actor.id === target.id,
    isOwnAccount: actor.account.id === target.account.id,
    seen: Object.fromEntries(
      await Promise.all(
        intents.map(
          async (intent) => [intent, await digestFormBasis(db, peopleActs[intent], target, now())] as const,
        ),
      ),
    ) as Partial<Record<PersonIntent, string>>,
  };
}

type PersonIntent = keyof typeof peopleActs;

/** A manager gets no forms about staff. */
export const listPersonForms = (person: SeenPerson | StaffPerson): ActForm[] =>
  'seen' in person
    ? [
        ...buildForms('person', person, (intent) => {
          const seen = person.seen[intent as PersonIntent];
          return seen === undefined ? undefined : { seen };
        }),
        ...person.contracts.flatMap(({ seen, ...contract }) =>
          seen === undefined ? [] : buildForms('contract', contract, () => ({ seen })),
        ),
      ]
    : [];
