import type { ActionFunctionArgs, LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { answerAct, loadOutcome } from '../act-forms.ts';
import { Badge } from '../components/badge.tsx';
import { EmptyState } from '../components/empty-state.tsx';
import { Instant } from '../components/instant.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Acts, askBefore, Outcome } from '../components/staff/acts.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonLink, personPath, roleWords } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Invitations');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => {
    const { refused } = args.context;
    const email = refused?.code === 'email_in_use' ? refused.values.email : undefined;
    return {
      ...(await procedures.staffForms.invitations({ refused: email })),
      outcome: await loadOutcome(args, 'invitation'),
    };
  });

export const action = (args: ActionFunctionArgs) => answerAct(args, 'invitation');

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

type Loaded = ReturnType<typeof useLoaderData<typeof loader>>;

export default function Invitations() {
  const { who, invitations, people, forms: ofNewcomer, holder, outcome } = useLoaderData<typeof loader>();
  const refused = useRefused();
  const forms = [...ofNewcomer, ...invitations.flatMap((each) => each.forms)];
  const asks = askBefore(refused, { forms });
  if (asks) return asks;
  return (
    <StaffPage
      title="Invitations"
      intro="Invite somebody who has no account here to the staff. People who have one get a role on their page."
      who={who}
      current="/admin/people"
    >
      <Outcome forms={forms} outcome={outcome} />
      {holder && (
        <Notice kind="info">
          <a href={personPath(holder)}>See the person who has this address</a>. If it is theirs, give them the
          role there.
        </Notice>
      )}
      <Section id="invite" title="A new invitation">
        <Acts forms={ofNewcomer} />
      </Section>
      <Section id="open" title="Open invitations" intro="The newest first. Each works for 24 hours.">
        {invitations.length === 0 ? (
          <EmptyState heading="h3" icon="mail" title="No open invitation">
            <p>An invitation is listed until the role is given, or its time is over.</p>
          </EmptyState>
        ) : (
          <Rows>
            {invitations.map((each) => (
              <Invited key={each.id} invitation={each} people={people} />
            ))}
          </Rows>
        )}
      </Section>
    </StaffPage>
  );
}

type InvitedProps = { invitation: Loaded['invitations'][number]; people: Loaded['people'] };

function Invited({ invitation, people }: InvitedProps) {
  const { email, role, invitedBy, sentAt, expiresAt, takenBy, forms } = invitation;
  return (
    <Row
      icon="mail"
      title={
        <>
          <Name>{email}</Name>{' '}
          <Badge meaning="waiting">{takenBy ? 'Second factor missing' : 'Not used yet'}</Badge>
        </>
      }
      about={
        <>
          {roleWords[role] ?? role}, invited by{' '}
          {invitedBy ? <PersonLink known={people} id={invitedBy} /> : 'a command on the server'}
          <br />
          Sent <Instant at={sentAt} />. Until <Instant at={expiresAt} />.
          {takenBy && (
            <>
              <br />
              Account: <PersonLink known={people} id={takenBy} />
            </>
          )}
        </>
      }
    >
      <Acts forms={forms} named={email} />
    </Row>
  );
}
