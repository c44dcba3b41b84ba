import type { ActionFunctionArgs, LoaderFunctionArgs, MetaFunction } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct } from '../act-forms.ts';
import { Contracts } from '../components/account/contracts.tsx';
import { Invoices } from '../components/account/invoices.tsx';
import { Confirm } from '../components/confirm.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { buildTitle } from '../components/service-name.ts';
import { Outcome, PersonFacts, WholeAccount } from '../components/staff/account-section.tsx';
import { ActsContext, isSaidAtForm, type Person } from '../components/staff/act.tsx';
import { Refusal } from '../components/staff/act-form.tsx';
import { BillingSection } from '../components/staff/billing-section.tsx';
import {
  giveBack,
  LoginSection,
  RefusedTries,
  StaffLinks,
  StaffSessions,
} from '../components/staff/login-section.tsx';
import { Activity, type Gets, History, Mails, WouldGet } from '../components/staff/records.tsx';
import { RightsSection } from '../components/staff/rights-section.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonState, roleWords } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

/** The forms are the browser's own: no script keeps what is shown of people. */
export const handle = { isStatic: true };

export const meta: MetaFunction<typeof loader> = ({ data, matches }) => [
  { title: buildTitle(data?.person.name ?? 'A person', matches) },
];

export async function loader(args: LoaderFunctionArgs) {
  const id = args.params.id ?? '';
  const loaded = await loadForStaff(args, async (procedures) => {
    const person = await procedures.admin.people.get({ id });
    const gets = 'seen' in person ? await procedures.admin.people.wouldGet({ id }) : undefined;
    return { person, gets };
  });
  return { ...loaded, saved: args.context.transport.readQuery(args.request).get('saved') };
}

const buttonOf = (intent: string, isOnlySuspended: boolean) =>
  intent === 'thaw' && isOnlySuspended ? giveBack : buttons.get(intent);

export const action = (args: ActionFunctionArgs) => answerAct(args, 'person', { id: args.params.id ?? '' });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** What the page that asks for a credential says one goes on to. */
const buttons = new Map([
  ['suspend', 'Suspend the account'],
  ['freeze', 'Freeze the account'],
  ['resume', 'End the suspension'],
  ['end-sessions', 'Log them out everywhere'],
  ['send-mail', 'Send the link'],
  ['remove-factors', 'Remove the second factors'],
  ['verify', 'Verify the account'],
  ['unverify', 'Decide that it is not verified'],
  ['grant', 'Allow it'],
  ['revoke', 'Do not allow it'],
  ['undecide', 'Leave it to the marketplace'],
  ['change-role', 'Change the role'],
  ['plan-deletion', 'Plan the deletion'],
  ['keep', 'Keep the account'],
  ['change-email', 'Change the address'],
  ['thaw', 'End the freeze'],
  ['remove-link', 'Disconnect the marketplace account'],
  ['check-vat-id', 'Save whether the VAT ID is checked'],
  ['accept-country', 'Decide about the new country'],
]);

const dangers = [
  'suspend',
  'freeze',
  'remove-factors',
  'unverify',
  'revoke',
  'plan-deletion',
  'thaw',
  'remove-link',
];

export default function PersonPage() {
  const { who, person, gets, saved } = useLoaderData<typeof loader>();
  const refused = useRefused();
  if (refused?.asks) {
    const intent = refused.values.intent ?? '';
    return (
      <Confirm
        refused={refused}
        asks={refused.asks}
        to={buttonOf(intent, 'seen' in person && !person.frozenAt)}
        about={person.email}
        danger={dangers.includes(intent)}
      />
    );
  }
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
      {!refused && <Outcome saved={saved} />}
      {refused && !(isWhole && isSaidAtForm(person, refused)) && <Refusal refused={refused} />}
      {isWhole ? (
        <ActsContext.Provider value={{ person, refused }}>
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
      {invoices.length > 0 && <Invoices invoices={invoices} isOwn={false} opens={isAdmin} />}
      {contracts.length > 0 && <Contracts contracts={contracts} isOwn={false} previews={isAdmin} />}
      <WholeAccount person={person} />
      <Mails mails={mails} />
      <History person={person} />
      <Activity person={person} />
      <WouldGet gets={gets} />
    </>
  );
}
