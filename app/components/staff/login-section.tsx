import { type ReactNode, useContext } from 'react';
import { Badge } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Notice } from '../notice.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { sayWait } from '../too-many.tsx';
import { Acts, ActsContext, type Person } from './acts.tsx';
import { Name } from './words.tsx';

const At = ({ at }: { at: Date | null }) => (at ? <Instant at={at} /> : null);

type Obstacle = Person['obstacles'][number];

/** For each reason why somebody cannot log in, the act that helps. If the act sends a mail, `kind` is the kind of that mail. */
const helps: Partial<Record<Obstacle, [intent: string, kind?: string]>> = {
  frozen: ['thaw'],
  suspended: ['resume'],
  leaving: ['keep'],
  address_typed: ['send-mail', 'prove-email'],
  address_unproved: ['send-mail', 'prove-email'],
  password_ended: ['send-mail', 'set-password'],
  no_password: ['send-mail', 'set-password'],
  no_credential: ['send-mail', 'set-password'],
  too_many_passwords: ['send-mail', 'set-password'],
  too_many_passwords_known_browser: ['send-mail', 'set-password'],
  too_many_codes: ['send-mail', 'set-password'],
  too_many_codes_known_browser: ['send-mail', 'set-password'],
  too_many_logins: ['send-mail', 'set-password'],
};

/** Names the button that helps, if this member of the staff may use it for this person. */
function Help({ against }: { against: Obstacle }) {
  const { forms } = useContext(ActsContext);
  const [intent, kind] = helps[against] ?? [];
  const form = forms.find((each) => each.intent === intent && each.about.kind === kind);
  return (
    form && (
      <>
        {' '}
        What helps: <strong data-helps={[intent, kind].filter(Boolean).join(' ')}>{form.label}</strong>.
      </>
    )
  );
}

const For = ({ minutes = 0 }: { minutes: number | undefined }) => <strong>for {sayWait(minutes)}</strong>;

/** Explains why somebody cannot log in. */
const obstacles: Record<Obstacle, (person: Person) => ReactNode> = {
  frozen: ({ frozenAt }) => (
    <>
      <strong>The account is frozen</strong> since <At at={frozenAt} />. Somebody who reads mail to one of its
      addresses froze it, or an administrator did, because someone else may have got in. Find out who the
      owner is. Then an administrator ends the freeze.
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
      in with it. The mail that verifies it asks whose it is.
    </>
  ),
  address_unproved: () => (
    <>
      <strong>The address is not verified.</strong> The person cannot open any product until they use the link
      in the mail that verifies it.
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
  no_password: () => (
    <>
      <strong>There is no password.</strong> The person logs in with a passkey. On a device that does not have
      it, they set a password with the link in a mail.
    </>
  ),
  factor_missing: () => (
    <>
      <strong>There is no second factor, and this role needs one.</strong> After the login the person must
      first set one up. Until then they cannot open any product.
    </>
  ),
  too_many_passwords: ({ waitMinutes }) => (
    <>
      <strong>Too many passwords were tried</strong> in browsers that are new to the person. There we refuse
      every password <For minutes={waitMinutes.too_many_passwords} />. A browser in which they have logged in
      before still works, and so does a passkey. A new password ends the wait.
    </>
  ),
  too_many_passwords_known_browser: ({ waitMinutes }) => (
    <>
      <strong>Too many passwords were tried</strong> in a browser in which the person has logged in before.
      There we refuse every password <For minutes={waitMinutes.too_many_passwords_known_browser} />. A passkey
      still works. A new password ends the wait.
    </>
  ),
  too_many_codes: ({ waitMinutes }) => (
    <>
      <strong>Too many codes were tried</strong> in browsers that are new to the person. There we refuse every
      code <For minutes={waitMinutes.too_many_codes} />. A browser in which they have logged in before still
      works, and so does a passkey. A new password ends the wait.
    </>
  ),
  too_many_codes_known_browser: ({ waitMinutes }) => (
    <>
      <strong>Too many codes were tried</strong> in a browser in which the person has logged in before. There
      we refuse every code <For minutes={waitMinutes.too_many_codes_known_browser} />. A passkey still works.
      A new password ends the wait.
    </>
  ),
  too_many_logins: ({ waitMinutes }) => (
    <>
      <strong>The person has logged in too often</strong> with the same password or passkey. We refuse it{' '}
      <For minutes={waitMinutes.too_many_logins} />. A new password ends the wait for the password.
    </>
  ),
};

const factorWords = { passkey: 'Passkey', authenticator: 'Authenticator app' };

export function LoginSection({ person }: { person: Person }) {
  const { email, factors, codesLeft } = person;
  const password = person.hasPassword ? 'Set' : person.hadPassword ? 'Ended' : 'Not set';
  return (
    <Section id="login" title="Logging in">
      {person.obstacles.length > 0 ? (
        <Notice kind="warning">
          <ul className="points" data-obstacles>
            {person.obstacles.map((each) => (
              <li key={each} data-obstacle={each}>
                {obstacles[each](person)}
                <Help against={each} />
              </li>
            ))}
          </ul>
        </Notice>
      ) : (
        <Notice kind="success">
          Nothing on our side keeps them from logging in.
          {person.refused.length > 0 && ' Below is what was tried this week.'}
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
                {factor.fromEstablishedBrowser ? 'a browser used before' : 'a new browser'}
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
                {person.newAddress.removesFactors && ', which also removes passkeys, app and recovery codes'}
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
      <Acts at="login" />
    </Section>
  );
}

const refusedWords: Record<string, string> = {
  wrong_password: 'The password was wrong',
  wrong_code: 'The code was wrong',
  no_password: 'There was no password to log in with',
  suspended: 'The account was suspended',
  passkey_counter: 'The passkey may have been copied',
};

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

export function StaffSessions({ person }: { person: Person }) {
  const { sessions } = person;
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
            >
              <Acts
                at="session"
                about={{ session: id }}
                named={
                  <>
                    {device}, logged in <Instant at={createdAt} />
                  </>
                }
              />
            </Row>
          ))}
        </Rows>
      )}
    </Section>
  );
}

/** Marketplace accounts with which the person can log in. */
export function StaffLinks({ person }: { person: Person }) {
  const { links, id } = person;
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
                Connected <Instant at={createdAt} />
                {isSleeping && '. It cannot log in until they connect it again from the marketplace'}
              </>
            }
            end={
              <Badge meaning={isSleeping ? 'waiting' : 'good'}>{isSleeping ? 'Paused' : 'Connected'}</Badge>
            }
          >
            <Acts at="link" about={{ externalId }} named={externalId} />
          </Row>
        ))}
      </Rows>
    </Section>
  );
}
