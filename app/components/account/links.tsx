import type { Refused } from '../../refused.ts';
import { Badge } from '../badge.tsx';
import { Disclosure } from '../disclosure.tsx';
import { Field } from '../field.tsx';
import { Day } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { capabilityTitle } from './access.tsx';
import { Outcome } from './outcome.tsx';

type Link = {
  provider: string;
  externalId: string;
  createdAt: Date;
  isSleeping: boolean;
  loses: string[];
  losesVerification: boolean;
};

type LinksProps = {
  links: Link[];
  hasPassword: boolean;
  hasPasskey: boolean;
  saved: string | null;
  refused: Refused | undefined;
};

/** Lists the person's accounts at other services. The person can log in here with any of these accounts. */
export function Links({ links, hasPassword, hasPasskey, saved, refused }: LinksProps) {
  const hasCredential = hasPassword || hasPasskey;
  const outcome = (
    <Outcome intent="remove-link" saved={saved} refused={refused}>
      The marketplace account is no longer connected.
    </Outcome>
  );
  // If the removed link was the last one, the page shows only the outcome of the removal.
  if (links.length === 0) return outcome;
  return (
    <Section id="links" title="Connected accounts" intro="You can log in here from these accounts.">
      {outcome}
      <Rows>
        {links.map((link) => (
          <Row
            key={link.externalId}
            icon="link"
            title="Marketplace"
            about={
              <>
                ID <code>{link.externalId}</code>, connected <Day at={link.createdAt} />
                {link.isSleeping &&
                  '. You cannot log in with it until you connect it again from the marketplace'}
              </>
            }
            end={
              <Badge meaning={link.isSleeping ? 'waiting' : 'good'}>
                {link.isSleeping ? 'Paused' : 'Connected'}
              </Badge>
            }
          >
            {hasCredential && <RemoveLink {...link} hasPassword={hasPassword} refused={refused} />}
          </Row>
        ))}
      </Rows>
      {!hasCredential && (
        <p className="hint">Before you can remove a connected account, set a password or add a passkey.</p>
      )}
    </Section>
  );
}

type RemoveLinkProps = Link & { hasPassword: boolean; refused?: Refused | undefined };

function RemoveLink({ provider, externalId, hasPassword, refused, ...taken }: RemoveLinkProps) {
  const mine = refused?.values.externalId === externalId ? refused : undefined;
  return (
    <Disclosure
      label={
        <>
          Remove<span className="visually-hidden"> marketplace account {externalId}</span>
        </>
      }
      open={mine !== undefined}
    >
      <form method="post">
        <input type="hidden" name="provider" value={provider} />
        <input type="hidden" name="externalId" value={externalId} />
        <WhatIsLost {...taken} />
        {hasPassword && (
          <Field
            label="Current password"
            name="currentPassword"
            type="password"
            autoComplete="current-password"
            required
            error={mine?.errors.currentPassword}
          />
        )}
        <button type="submit" name="intent" value="remove-link" className="danger">
          Remove the connected account<span className="visually-hidden"> {externalId}</span>
        </button>
      </form>
    </Disclosure>
  );
}

/** Rights that only the marketplace gives. The account loses them if the link is removed. */
function WhatIsLost({ loses, losesVerification }: Pick<Link, 'loses' | 'losesVerification'>) {
  const lost = [...loses.map(capabilityTitle), ...(losesVerification ? ['verification'] : [])];
  if (lost.length === 0) return <p>What your account can do will stay the same.</p>;
  return <p>Your account will lose what it has only from the marketplace: {lost.join(', ')}.</p>;
}
