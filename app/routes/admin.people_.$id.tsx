import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { Invoices } from '../components/account/invoices.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { buildTitle } from '../components/service-name.ts';
import { PersonFacts, WholeAccount } from '../components/staff/account-section.tsx';
import { ActsContext, askBefore, Outcome, type Person } from '../components/staff/acts.tsx';
import { BillingSection, StaffContracts } from '../components/staff/billing-section.tsx';
import { LoginSection, RefusedTries, StaffLinks, StaffSessions } from '../components/staff/login-section.tsx';
import { Activity, type Gets, History, Mails, WouldGet } from '../components/staff/records.tsx';
import { RightsSection } from '../components/staff/rights-section.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonState, roleWords } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  { title: buildTitle(data?.person.name ?? 'A person', matches) },
];

export async function loader(args: LoaderFunctionArgs) {
  const id = args.params.id ?? '';
  return loadForStaff(args, async (procedures) => {
    const { person, forms } = await procedures.staffForms.person({ id });
    const gets = 'seen' in person ? await procedures.admin.people.wouldGet({ id }) : undefined;
    return { person, forms, gets, outcome: await loadOutcome(args, 'person') };
  });
}

export const action = (args: ActionFunctionArgs) => answerAct(args, 'person', { id: args.params.id ?? '' });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function PersonPage() {
  const { who, person, forms, gets, outcome } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const asks = askBefore(refused, { forms, about: person.email });
  if (asks) return asks;
  const isWhole = 'seen' in person;
  return (
    <StaffPage
      title={person.name}
      intro={
        <>
          <Name>{person.email}</Name> · {roleWords[person.role]}{' '}
          {isWhole && <PersonState state={person.state} />}
        </>
      }
      who={who}
      current="/admin/people"
    >
      <Outcome forms={forms} outcome={outcome} />
      {isWhole ? (
        <ActsContext.Provider value={{ name: person.name, email: person.email, forms }}>
          <Whole person={person} gets={gets ?? []} isAdmin={who.role === 'admin'} />
        </ActsContext.Provider>
      ) : (
        <div className="card">
          <p>
            {person.id === who.id
              ? 'This is you. Nobody changes their own account here.'
              : 'This person is of the staff. Only administrators see more of them.'}
          </p>
          <p>
            User id <code>{person.id}</code>
          </p>
        </div>
      )}
    </StaffPage>
  );
}

function Whole({ person, gets, isAdmin }: { person: Person; gets: Gets; isAdmin: boolean }) {
  const { isOneself, isOwnAccount, contracts, invoices, mails, refused } = person;
  return (
    <>
      {isOneself && <Notice kind="info">This is you. You cannot change your own account here.</Notice>}
      {isOwnAccount && !isOneself && (
        <Notice kind="info">
          This person is in your own account. Ask somebody else of the staff to help them.
        </Notice>
      )}
      <PersonFacts person={person} />
      <LoginSection person={person} />
      <RefusedTries refused={refused} />
      <RightsSection person={person} />
      <StaffSessions person={person} />
      <StaffLinks person={person} />
      <BillingSection person={person} />
      {invoices.length > 0 && <Invoices invoices={invoices} isOwn={false} opens={person.opensInvoices} />}
      <StaffContracts contracts={contracts} isAdmin={isAdmin} />
      <WholeAccount />
      <Mails mails={mails} />
      <History person={person} />
      <Activity person={person} />
      <WouldGet gets={gets} />
    </>
  );
}
