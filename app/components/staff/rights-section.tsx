import type { ReactNode } from 'react';
import { capabilityNames, capabilityTitle } from '../account/access.tsx';
import { Badge, type Meaning } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { Act, type Person } from './act.tsx';
import { Name } from './words.tsx';

const sells = 'sell_products';

/** What the account may do, who says so, and what can be decided about it. */
export function RightsSection({ person }: { person: Person }) {
  const { account, links } = person;
  const { granted, active, verifiedAt, decided, others } = account;
  /** `has` and `will`: whether the account has the right now, and once that is decided. */
  const sayNotice = (has: boolean, will: boolean) =>
    has === will ? (
      <>
        Only who decides it changes. <Name>{person.name}</Name> notices nothing now, and gets no email.
      </>
    ) : (
      <>
        We email <Name>{person.name}</Name> that what the account may do has changed.{' '}
        {others.length > 0 ? 'Everybody in the account sees' : 'They see'} it on their profile, and products
        learn it at once.
      </>
    );
  const saysVerified = links.some(({ verified }) => verified === true);
  const waits = granted.includes(sells) && verifiedAt === null;
  return (
    <Section
      id="rights"
      title="What the account may do"
      intro={
        others.length > 0
          ? 'It holds for everybody in the account. What is decided here counts, whatever the marketplace says.'
          : 'What is decided here counts, whatever the marketplace says.'
      }
    >
      <Rows>
        <Row
          icon="check"
          title="Verified"
          about={
            <>
              {verifiedAt ? (
                <>
                  Since <Instant at={verifiedAt} />
                </>
              ) : (
                waits && 'The account may sell products once it is verified.'
              )}
              {(verifiedAt || waits) && <br />}
              <Said
                here={sayHere(decided.verified, 'verified', 'not verified')}
                marketplace={links.map(({ externalId, verified }) => [
                  externalId,
                  verified === null ? 'nothing' : verified ? 'verified' : 'not verified',
                ])}
              />
            </>
          }
          end={
            <State
              state={verifiedAt ? ['Verified', 'good'] : waits ? ['Waiting', 'waiting'] : ['No', 'neutral']}
            />
          }
        >
          <div className="acts">
            <Act
              intent="verify"
              label={verifiedAt ? 'Decide that it is verified' : 'Verify the account'}
              button={verifiedAt ? 'Decide that it is verified' : 'Verify the account'}
              notice={sayNotice(verifiedAt !== null, true)}
            />
            <Act
              intent="unverify"
              label={verifiedAt ? 'End the verification' : 'Decide that it is not verified'}
              button="Decide that it is not verified"
              danger
              notice={sayNotice(verifiedAt !== null, false)}
            />
            <Act
              intent="undecide"
              about={{ capability: 'verification' }}
              label={
                <>
                  Leave it to the marketplace<span className="visually-hidden">: verification</span>
                </>
              }
              button="Leave it to the marketplace"
              notice={sayNotice(verifiedAt !== null, saysVerified)}
            />
          </div>
        </Row>
        {capabilityNames.map((name) => {
          const isGranted = granted.includes(name);
          const isActive = active.includes(name);
          const here = decided.granted.includes(name) ? true : decided.revoked.includes(name) ? false : null;
          const title = capabilityTitle(name);
          const saysSo = links.some(({ capabilities }) => capabilities?.includes(name));
          const about = { capability: name };
          return (
            <Row
              key={name}
              icon="grid"
              title={title}
              about={
                <Said
                  here={sayHere(here, 'yes', 'no')}
                  marketplace={links.map(({ externalId, capabilities }) => [
                    externalId,
                    capabilities === null ? 'nothing' : capabilities.includes(name) ? 'yes' : 'no',
                  ])}
                />
              }
              end={
                <State
                  state={
                    isActive
                      ? ['Active', 'good']
                      : isGranted
                        ? ['Waiting for verification', 'waiting']
                        : ['No', 'neutral']
                  }
                />
              }
            >
              <div className="acts">
                <Act
                  intent="grant"
                  about={about}
                  label={
                    <>
                      Allow it<span className="visually-hidden">: {title}</span>
                    </>
                  }
                  button="Allow it"
                  notice={sayNotice(isGranted, true)}
                />
                <Act
                  intent="revoke"
                  about={about}
                  label={
                    <>
                      Do not allow it<span className="visually-hidden">: {title}</span>
                    </>
                  }
                  button="Do not allow it"
                  danger
                  notice={sayNotice(isGranted, false)}
                />
                <Act
                  intent="undecide"
                  about={about}
                  label={
                    <>
                      Leave it to the marketplace<span className="visually-hidden">: {title}</span>
                    </>
                  }
                  button="Leave it to the marketplace"
                  notice={sayNotice(isGranted, saysSo)}
                />
              </div>
            </Row>
          );
        })}
      </Rows>
    </Section>
  );
}

const State = ({ state: [words, meaning] }: { state: [string, Meaning] }) => (
  <Badge meaning={meaning}>{words}</Badge>
);

const sayHere = (decision: boolean | null, yes: string, no: string) =>
  decision === null ? undefined : decision ? yes : no;

/** Who says what. */
function Said({
  here,
  marketplace,
}: {
  here: string | undefined;
  marketplace: [externalId: string, says: string][];
}): ReactNode {
  return (
    <>
      Decided here: {here ?? 'nothing'}
      {marketplace.map(([externalId, says]) => (
        <span key={externalId}>
          <br />
          The marketplace says of <code>{externalId}</code>: {says}
        </span>
      ))}
    </>
  );
}
