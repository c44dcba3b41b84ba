import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { Invoices } from '../components/account/invoices.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { buildTitle } from '../components/service-name.ts';
import { PersonFacts } from '../components/staff/account-section.tsx';
import { ActsContext, askBefore, Outcome, type Person } from '../components/staff/acts.tsx';
import { BillingSection, StaffContracts } from '../components/staff/billing-section.tsx';
import { LoginSection, RefusedTries, StaffLinks, StaffSessions } from '../components/staff/login-section.tsx';
import { NotesSection } from '../components/staff/notes-section.tsx';
import { findTab, PersonHead, tabs } from '../components/staff/person-head.tsx';
import { Activity, type Gets, History, Mails, WouldGet } from '../components/staff/records.tsx';
import { RightsSection } from '../components/staff/rights-section.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonState, roleWords } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  {
    title: buildTitle(data ? `${tabs[data.tab].title}: ${data.person.name}` : 'A person', matches),
  },
];

function requireTab({ params, context }: Pick<LoaderFunctionArgs, 'params' | 'context'>) {
  const tab = findTab(params.tab);
  if (!tab) throw context.transport.refuse('not_found');
  return tab;
}

export async function loader(args: LoaderFunctionArgs) {
  const id = args.params.id ?? '';
  return loadForStaff(args, async (procedures) => {
    const tab = requireTab(args);
    const { person, forms } = await procedures.staffForms.person({ id });
    const gets =
      tab === 'products' && 'seen' in person ? await procedures.admin.people.wouldGet({ id }) : undefined;
    return { tab, person, forms, gets, outcome: await loadOutcome(args, 'person') };
  });
}

export const action = (args: ActionFunctionArgs) =>
  answerAct(args, 'person', () => {
    requireTab(args);
    return { id: args.params.id ?? '' };
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

export default function PersonPage() {
  const { who, tab, person, forms, gets, outcome } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const asks = askBefore(refused, { forms, about: person.email });
  if (asks) return asks;
  const shown = forms.filter(({ at }) => at === 'head' || tabs[tab].places.includes(at));
  const intro = (
    <>
      <Name>{person.email}</Name> · {roleWords[person.role]}{' '}
      {'seen' in person && <PersonState state={person.state} />}
    </>
  );
  const page = { title: person.name, intro, who, current: '/admin/people' };
  if (!('seen' in person))
    return (
      <StaffPage {...page}>
        <Outcome forms={[]} outcome={outcome} />
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
      </StaffPage>
    );
  const { isOneself, isOwnAccount } = person;
  return (
    <ActsContext.Provider value={{ name: person.name, email: person.email, forms: shown }}>
      <StaffPage {...page} head={<PersonHead id={person.id} current={tab} />}>
        <Outcome forms={shown} outcome={outcome} />
        {isOneself && <Notice kind="info">This is you. You cannot change your own account here.</Notice>}
        {isOwnAccount && !isOneself && (
          <Notice kind="info">
            This person is in your own account. Ask somebody else of the staff to help them.
          </Notice>
        )}
        {parts[tab]({ person, gets: gets ?? [], isAdmin: who.role === 'admin' })}
      </StaffPage>
    </ActsContext.Provider>
  );
}

type Parts = { person: Person; gets: Gets; isAdmin: boolean };

const parts: Record<keyof typeof tabs, (shown: Parts) => React.ReactNode> = {
  login: ({ person }) => (
    <>
      <NotesSection person={person} />
      <LoginSection person={person} />
      <PersonFacts person={person} />
      <RefusedTries refused={person.refused} />
      <StaffSessions person={person} />
      <StaffLinks person={person} />
    </>
  ),
  billing: ({ person, isAdmin }) => (
    <>
      <BillingSection person={person} />
      {person.invoices.length > 0 && (
        <Invoices invoices={person.invoices} isOwn={false} opens={person.opensInvoices} />
      )}
      <StaffContracts contracts={person.contracts} isAdmin={isAdmin} />
    </>
  ),
  rights: ({ person }) => <RightsSection person={person} />,
  activity: ({ person }) => (
    <>
      <History person={person} />
      <Activity person={person} />
    </>
  ),
  mails: ({ person }) => <Mails person={person} />,
  products: ({ gets }) => <WouldGet gets={gets} />,
};
