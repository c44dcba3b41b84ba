import type { ReactNode } from 'react';
import { capabilityNames, capabilityTitle } from '../account/access.tsx';
import { Badge, type Meaning } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { Acts, type Person } from './acts.tsx';

const sells = 'sell_products';
const verification = { capability: 'verification' };

export function RightsSection({ person }: { person: Person }) {
  const { account, links } = person;
  const { granted, active, verifiedAt, decided, others } = account;
  const waits = granted.includes(sells) && verifiedAt === null;
  return (
    <Section
      id="rights"
      title="What the account may do"
      intro={
        others.length > 0
          ? 'It holds for everybody in the account. Our decision counts, whatever the marketplace says.'
          : 'Our decision counts, whatever the marketplace says.'
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
          <Acts at="verification" about={verification} named="verification" />
        </Row>
        {capabilityNames.map((name) => {
          const isGranted = granted.includes(name);
          const isActive = active.includes(name);
          const here = decided.granted.includes(name) ? true : decided.revoked.includes(name) ? false : null;
          const title = capabilityTitle(name);
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
              <Acts at="capability" about={{ capability: name }} named={title} />
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

function Said({
  here,
  marketplace,
}: {
  here: string | undefined;
  marketplace: [externalId: string, says: string][];
}): ReactNode {
  return (
    <>
      Our decision: {here ?? 'none'}
      {marketplace.map(([externalId, says]) => (
        <span key={externalId}>
          <br />
          The marketplace says of <code>{externalId}</code>: {says}
        </span>
      ))}
    </>
  );
}
