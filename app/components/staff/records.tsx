import type { ReactNode } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { Badge, type Meaning } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import type { Person } from './acts.tsx';
import { EventRow } from './event-row.tsx';
import { Name, PersonLink } from './words.tsx';

type Mail = Person['mails'][number];

const documentMails = ['invoice_issued', 'credit_note_issued'];

function stateOfMail(
  { kind, sentAt, givenUpAt, attempts }: Mail,
  { emailVerifiedAt, billing }: Person,
): [words: string, meaning: Meaning] {
  if (sentAt) return ['Sent', 'good'];
  if (givenUpAt) return ['Given up', 'needs-you'];
  // Documents are mailed only to email addresses that somebody has proved (contract 7.500).
  const isProved = emailVerifiedAt ?? billing?.provedInvoiceEmail;
  if (!isProved && attempts === 0 && documentMails.includes(kind))
    return ['Waits for a verified address', 'waiting'];
  return attempts > 0 ? [`Waiting, tried ${attempts} times`, 'waiting'] : ['Waiting', 'waiting'];
}

export function Mails({ person }: { person: Person }) {
  const { mails } = person;
  return (
    <Section id="mails" title="Mails" intro="The newest 20, as far as we keep them.">
      {mails.length === 0 ? (
        <p>None.</p>
      ) : (
        <Newest
          rows={mails}
          first={5}
          draw={(rows) => (
            <Rows>
              {rows.map((mail) => {
                const [words, meaning] = stateOfMail(mail, person);
                return (
                  <Row
                    key={`${mail.createdAt.toISOString()} ${mail.kind} ${mail.recipient}`}
                    icon="mail"
                    title={mail.what}
                    about={
                      <>
                        To <Name>{mail.recipient}</Name>
                        <br />
                        <Instant at={mail.createdAt} />
                      </>
                    }
                    end={<Badge meaning={meaning}>{words}</Badge>}
                  />
                );
              })}
            </Rows>
          )}
        />
      )}
    </Section>
  );
}

type Change = Person['history'][number];

const authorWords: Partial<Record<NonNullable<Change['by']>, string>> = {
  marketplace: 'By the marketplace',
  crm: 'By the CRM',
  payments: 'By a payment',
  operator: 'By an operator',
  database: 'By SQL',
  service: 'By the service itself',
};

function ChangedBy({ change, person }: { change: Change; person: Person }) {
  const { by, byUser, actorId } = change;
  if (by === 'person')
    return (
      <>{byUser === null || byUser === person.id ? 'By the person' : 'By somebody else in the account'}</>
    );
  if (by === 'staff' && actorId)
    return (
      <>
        By <PersonLink known={person.authors} id={actorId} />, of the staff
      </>
    );
  return <>{by === null ? 'Found when the history began' : (authorWords[by] ?? by)}</>;
}

/** Describes a change, such as "Name: from Zoë to Zoe". */
function sayDetail({ what, from, to }: Change['changes'][number]): string {
  if (from !== null && to !== null) return `${what}: from ${from} to ${to}`;
  if (to !== null) return `${what}: ${to}`;
  return from === null ? `${what} changed` : `${what}: ${from} removed`;
}

/** Shows the first rows. The other rows are behind a summary that opens. */
export function Newest<T>({
  rows,
  first,
  draw,
}: {
  rows: T[];
  first: number;
  draw: (rows: T[]) => ReactNode;
}) {
  const others = rows.slice(first);
  return (
    <>
      {draw(rows.slice(0, first))}
      {others.length > 0 && (
        <details className="others">
          <summary>Show {others.length} more</summary>
          {draw(others)}
        </details>
      )}
    </>
  );
}

export function History({ person }: { person: Person }) {
  const { history } = person;
  return (
    <Section id="history" title="What changed" intro="The newest 50 changes of the person and the account.">
      {history.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <Newest
          rows={history}
          first={5}
          draw={(rows) => (
            <ul className="rows audit">
              {rows.map((change) => (
                <li key={change.id}>
                  <div>
                    <strong>{change.what}</strong>
                    {change.changes.map((detail) => (
                      <p key={detail.what}>
                        <Name>{sayDetail(detail)}</Name>
                      </p>
                    ))}
                    <p>
                      <ChangedBy change={change} person={person} />
                    </p>
                    {change.why && (
                      <p>
                        Why: <Name>{change.why}</Name>
                      </p>
                    )}
                    <p className="hint">
                      <Instant at={new Date(change.at)} />
                    </p>
                  </div>
                </li>
              ))}
            </ul>
          )}
        />
      )}
    </Section>
  );
}

export function Activity({ person }: { person: Person }) {
  const { activity, authors, id } = person;
  return (
    <Section
      id="activity"
      title="What happened"
      intro={
        <>
          The newest 50 events. <a href={`/admin/audit?person=${id}`}>See all in the audit</a>
        </>
      }
    >
      {activity.length === 0 ? (
        <p>Nothing.</p>
      ) : (
        <Newest
          rows={activity}
          first={10}
          draw={(rows) => (
            <ul className="rows audit">
              {rows.map((event) => (
                <EventRow key={event.id} event={event} known={authors} isAboutOne />
              ))}
            </ul>
          )}
        />
      )}
    </Section>
  );
}

export type Gets = Awaited<ReturnType<Procedures['admin']['people']['wouldGet']>>;

const stops: Record<string, string> = {
  suspended: 'Nothing. The account is suspended.',
  leaving: 'Nothing. The account will be deleted, so no product opens.',
  unproved: 'Nothing. The email address is not verified.',
  not_let_in: 'Nothing. This product is not open to their role.',
  no_factor: 'Nothing. Their role needs a second factor, and they have none.',
  no_factor_for_client: 'Nothing. This product needs a second factor, and they have none.',
};

/** What each product would be told about the person. */
export function WouldGet({ gets }: { gets: Gets }) {
  return (
    <Section
      id="would-get"
      title="What products would get"
      intro="If the person opened a product now. Nothing here is signed, and nobody is logged in by it."
    >
      {gets.length === 0 ? (
        <p>There are no products.</p>
      ) : (
        <Rows>
          {gets.map(({ client, title, payload, claims = payload, stop }) => (
            <Row key={client} icon="grid" title={title} about={<code>{client}</code>}>
              {claims ? (
                <details className="json">
                  <summary>
                    Show what it would get<span className="visually-hidden">: {title}</span>
                  </summary>
                  <pre data-would-get={client}>{JSON.stringify(claims, null, 2)}</pre>
                </details>
              ) : (
                <p data-would-get={client}>
                  {stops[stop?.why ?? ''] ?? 'Nothing.'} <span className="hint">(contract {stop?.rule})</span>
                </p>
              )}
            </Row>
          ))}
        </Rows>
      )}
    </Section>
  );
}
