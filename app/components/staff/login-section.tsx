import type { ReactNode } from 'react';
import { Badge } from '../badge.tsx';
import { EmailField } from '../field.tsx';
import { Day, Instant } from '../instant.tsx';
import { Notice } from '../notice.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { Act, type Person } from './act.tsx';
import { Name } from './words.tsx';

const At = ({ at }: { at: Date | null }) => (at ? <Instant at={at} /> : null);

/** Why somebody cannot log in, and what helps. */
const obstacles: Record<Person['obstacles'][number], (person: Person) => ReactNode> = {
  frozen: ({ frozenAt }) => (
    <>
      <strong>The account is frozen</strong> since <At at={frozenAt} />. Somebody who reads mail to one of its
      addresses froze it, or an administrator did, because someone else may have got in. Find out who the
      owner is, then end the freeze.
    </>
  ),
  suspended: ({ suspendedAt }) => (
    <>
      <strong>The account is suspended</strong> since <At at={suspendedAt} />. Nobody can log in to it.
    </>
  ),
  leaving: ({ deletionDueAt }) => (
    <>
      <strong>The account will be deleted</strong> on <At at={deletionDueAt} />. Until then the person can log
      in and keep it, but cannot open any product.
    </>
  ),
  address_typed: () => (
    <>
      <strong>Somebody only typed this address.</strong> Nobody has shown that it is theirs, so nobody can log
      in with it. The mail that proves it asks whose it is.
    </>
  ),
  address_unproved: () => (
    <>
      <strong>The address is not proved.</strong> The person cannot open any product until they use the link
      in the mail that proves it.
    </>
  ),
  password_ended: () => (
    <>
      <strong>The password no longer works.</strong> The person sets a new one with the link in a mail.
    </>
  ),
  no_credential: () => (
    <>
      <strong>There is no password and no passkey.</strong> The person sets a password with the link in a
      mail.
    </>
  ),
};

const factorWords = { passkey: 'Passkey', authenticator: 'Authenticator app' };

/** How a person logs in, each reason why they cannot, and what helps. */
export function LoginSection({ person }: { person: Person }) {
  const { name, email, factors, codesLeft } = person;
  const password = person.hasPassword ? 'Set' : person.hadPassword ? 'Ended' : 'Not set';
  return (
    <Section id="login" title="Logging in">
      {person.obstacles.length > 0 ? (
        <Notice kind="warning">
          <ul className="points" data-obstacles>
            {person.obstacles.map((each) => (
              <li key={each} data-obstacle={each}>
                {obstacles[each](person)}
              </li>
            ))}
          </ul>
        </Notice>
      ) : (
        <Notice kind="success">
          Nothing on our side keeps them from logging in.
          {person.refused.length > 0 && ' Below is what they tried this week.'}
        </Notice>
      )}
      <Rows>
        <Row
          icon="lock"
          title="Password"
          end={<Badge meaning={person.hasPassword ? 'good' : 'neutral'}>{password}</Badge>}
        />
        {factors.map((factor) => (
          <Row
            key={`${factor.kind} ${factor.addedAt.toISOString()}`}
            icon={factor.kind === 'passkey' ? 'key' : 'phone'}
            title={
              <>
                {factorWords[factor.kind]}
                {factor.name && (
                  <>
                    {' '}
                    <Name>{factor.name}</Name>
                  </>
                )}
              </>
            }
            about={
              <>
                Added <Instant at={factor.addedAt} />, in{' '}
                {factor.fromEstablishedBrowser ? 'a browser they knew' : 'a browser that was new to them'}
                <br />
                {factor.lastUsedAt ? (
                  <>
                    Last used <Instant at={factor.lastUsedAt} />
                  </>
                ) : (
                  'Not used yet'
                )}
              </>
            }
          />
        ))}
        {person.mailboxes
          .filter((mailbox) => mailbox !== email)
          .map((mailbox) => (
            <Row
              key={mailbox}
              icon="mail"
              title="Earlier address"
              about={
                <span data-earlier-address>
                  <Name>{mailbox}</Name> can have the account back
                </span>
              }
            />
          ))}
        {person.newAddress && (
          <Row
            icon="mail"
            title="A new address waits"
            about={
              <span data-new-address>
                <Name>{person.newAddress.email}</Name> has a link until{' '}
                <Instant at={person.newAddress.expiresAt} />
              </span>
            }
          />
        )}
        {person.codeFactors.length > 0 && (
          <Row
            icon="shield"
            title="Recovery codes"
            end={<Badge meaning={codesLeft < 3 ? 'waiting' : 'good'}>{`${codesLeft} of 10 left`}</Badge>}
          />
        )}
      </Rows>
      <div className="acts">
        <Act
          intent="resume"
          label="End the suspension"
          button="End the suspension"
          notice={
            <>
              We email <Name>{name}</Name> that they can log in again. Nothing else changes.
            </>
          }
        />
        <Thaw person={person} />
        <Act
          intent="send-mail"
          about={{ kind: 'set-password' }}
          label="Send a link to set a password"
          button="Send the link"
          notice={
            person.holdsEmail ? (
              <>
                We email <strong>{email}</strong> a link that sets a new password. It works for an hour. Until
                it is used, nothing changes.
              </>
            ) : (
              <>
                We email <strong>{email}</strong> a link that asks whose address it is, and sets a password.
                Until it is used, nothing changes.
              </>
            )
          }
        />
        <Act
          intent="send-mail"
          about={{ kind: 'prove-email' }}
          label="Send a link to prove the address"
          button="Send the link"
          notice={
            <>
              We email <strong>{email}</strong> a link that proves the address. Until it is used, nothing
              changes.
            </>
          }
        />
        <Act
          intent="remove-factors"
          label="Remove second factors"
          button="Remove passkeys, app and codes"
          danger
          notice={
            <>
              We remove passkeys, the authenticator app and recovery codes, end the password, and log{' '}
              <Name>{name}</Name> out everywhere. We email <strong>{email}</strong> what we did, and a link
              that sets a new password. Nobody gets in without that mail.
              {person.newAddress && ' This stops the change of the address that waits.'}
            </>
          }
        />
        <Act
          intent="change-email"
          label="Change the address"
          button="Send the links"
          danger
          notice={
            <>
              For somebody who lost their mailbox. We tell <strong>{email}</strong> at once, with a link that
              stops the change. The new address gets a link for 24 hours that moves the account there and sets
              a new password. Until it is used, nothing changes.
            </>
          }
          fields={(refused) => (
            <EmailField
              label="New address"
              name="email"
              required
              autoComplete="off"
              defaultValue={refused?.values.email}
              error={refused?.errors.email}
              autoFocus={refused?.errors.email !== undefined}
            />
          )}
        />
      </div>
    </Section>
  );
}

/** What the button says that ends a suspension as it ends a freeze. */
export const giveBack = 'Give the account back';

function Thaw({ person: { email, mailboxes, frozenAt } }: { person: Person }) {
  return (
    <Act
      intent="thaw"
      label={frozenAt ? 'End the freeze' : 'End the suspension, and say whose the account is'}
      button={frozenAt ? 'End the freeze' : giveBack}
      danger
      notice={
        <>
          {frozenAt
            ? 'We email every address below that the account is no longer frozen.'
            : 'We email the address that you choose that the account is no longer suspended.'}{' '}
          If you keep another address than <strong>{email}</strong>, the account moves there, what was changed
          meanwhile is undone, and we email that address a link that sets a password.
        </>
      }
      fields={(refused) => (
        <>
          <fieldset className="field">
            <legend>Which address is the owner’s?</legend>
            {mailboxes.map((mailbox) => (
              <label key={mailbox} className="choice">
                <input
                  type="radio"
                  name="keep"
                  value={mailbox}
                  required
                  defaultChecked={refused?.values.keep === mailbox}
                />
                <Name>{mailbox}</Name> ({mailbox === email ? 'now' : 'earlier'})
              </label>
            ))}
            {refused?.errors.keep && (
              <p className="error" role="alert">
                {refused.errors.keep}
              </p>
            )}
          </fieldset>
          <label className="choice">
            <input
              type="checkbox"
              name="removeFactors"
              value="yes"
              defaultChecked={refused?.values.removeFactors === 'yes'}
            />
            Also remove passkeys, app and recovery codes, and end the password
          </label>
        </>
      )}
    />
  );
}

const refusedWords: Record<string, string> = {
  wrong_password: 'The password was wrong',
  wrong_code: 'The code was wrong',
  no_password: 'There was no password to log in with',
  suspended: 'The account was suspended',
  passkey_counter: 'The passkey may have been copied',
};

/** What was refused within a week. */
export function RefusedTries({ refused }: { refused: Person['refused'] }) {
  if (refused.length === 0) return null;
  return (
    <Section id="refused" title="Refused this week" intro="Logins, codes and changes that we did not accept.">
      <Rows>
        {refused.map(({ at, type, reason, device, place, address }) => (
          <Row
            key={`${at.toISOString()} ${type}`}
            icon="alert"
            title={refusedWords[reason ?? ''] ?? 'A change was refused: the password was wrong'}
            about={
              <>
                <Instant at={at} />
                {[device, place, address]
                  .filter((each) => each)
                  .map((each) => (
                    <span key={each}> · {each}</span>
                  ))}
              </>
            }
          />
        ))}
      </Rows>
    </Section>
  );
}

/** Where the person is logged in. */
export function StaffSessions({ person }: { person: Person }) {
  const { sessions, name } = person;
  return (
    <Section id="sessions" title="Where they are logged in">
      {sessions.length === 0 ? (
        <p>Nowhere.</p>
      ) : (
        <Rows>
          {sessions.map(({ id, device, place, address, createdAt, lastSeenAt }) => (
            <Row
              key={id}
              icon="screen"
              title={device}
              about={
                <>
                  {[place, address].filter(Boolean).join(' · ')}
                  {(place || address) && <br />}
                  Logged in <Instant at={createdAt} />
                  <br />
                  Last active <Instant at={lastSeenAt} />
                </>
              }
            />
          ))}
        </Rows>
      )}
      {sessions.length > 0 && (
        <div className="acts">
          <Act
            intent="end-sessions"
            label="Log them out everywhere"
            button="Log them out everywhere"
            notice={
              <>
                We log <Name>{name}</Name> out in every browser, and email them that we did. They can log in
                again at once.
              </>
            }
          />
        </div>
      )}
    </Section>
  );
}

/** Marketplace accounts that log somebody of the account in. */
export function StaffLinks({ person }: { person: Person }) {
  const { links, id, name } = person;
  const own = links.filter(({ userId }) => userId === id);
  if (own.length === 0) return null;
  return (
    <Section id="links" title="Marketplace accounts">
      <Rows>
        {own.map(({ externalId, createdAt, isSleeping }) => (
          <Row
            key={externalId}
            icon="link"
            title={<code>{externalId}</code>}
            about={
              <>
                Connected <Day at={createdAt} />
                {isSleeping && '. It cannot log in until they connect it again from the marketplace'}
              </>
            }
            end={
              <Badge meaning={isSleeping ? 'waiting' : 'good'}>{isSleeping ? 'Paused' : 'Connected'}</Badge>
            }
          >
            <Act
              intent="remove-link"
              about={{ externalId }}
              label={
                <>
                  Disconnect<span className="visually-hidden"> {externalId}</span>
                </>
              }
              button="Disconnect"
              danger
              notice={
                <>
                  We email <Name>{name}</Name> that the marketplace account is no longer connected. They can
                  no longer log in from there, and whoever came in by it alone is logged out. The account
                  loses what only the marketplace gives it.
                </>
              }
            />
          </Row>
        ))}
      </Rows>
    </Section>
  );
}
