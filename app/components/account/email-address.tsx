import type { Refused } from '../../refused.ts';
import { Badge } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { emailPage } from './account-pages.ts';
import { Outcome } from './outcome.tsx';

/** `spelled` has the domain as people write it. `email` has the domain as mail servers write it. */
type Spelled = { email: string; spelled: string };

type Pending = Spelled & { expiresAt: Date };

type EmailAddressProps = Spelled & {
  isVerified: boolean;
  /** A change of the email address that waits until somebody uses the link in its mail. */
  pending: Pending | null;
  saved: string | null;
  refused: Refused | undefined;
};

export function EmailAddress({ email, spelled, isVerified, pending, saved, refused }: EmailAddressProps) {
  return (
    <Section id="email-address" title="Email address">
      <Outcome intent="cancel-email" saved={saved} refused={refused}>
        Your email address has not changed. The link we sent no longer works.
      </Outcome>
      <Rows>
        <Row
          icon="mail"
          title={spelled}
          about={
            <>
              <Canonical email={email} spelled={spelled} />
              {isVerified
                ? 'You log in with this address, and we send emails about your account to it.'
                : 'You need to verify your email address before you can open our products.'}
            </>
          }
          end={
            <>
              <Badge meaning={isVerified ? 'good' : 'needs-you'}>
                {isVerified ? 'Verified' : 'Not verified'}
              </Badge>
              {!isVerified && (
                <a className="button quiet" href="/verify-email">
                  Verify it now
                </a>
              )}
              {isVerified && (
                <a className="button quiet" href={emailPage}>
                  Change<span className="visually-hidden"> your email address</span>
                </a>
              )}
            </>
          }
        />
        {pending && <PendingAddress {...pending} />}
      </Rows>
    </Section>
  );
}

/**
 * Shows the ASCII form of the email address, too, because letters of another alphabet may look like the letters that readers
 * expect.
 */
const Canonical = ({ email, spelled }: Spelled) =>
  spelled === email ? null : (
    <>
      Mail servers write it as <code>{email}</code>.{' '}
    </>
  );

/**
 * The words are the same whether or not another user has that email address. So the page does not reveal whether the address is
 * used here.
 */
function PendingAddress({ email, spelled, expiresAt }: Pending) {
  return (
    <Row
      icon="clock"
      title={spelled}
      about={
        <>
          <Canonical email={email} spelled={spelled} />
          Open the link we sent to this address. It works until <Instant at={expiresAt} />.
        </>
      }
    >
      <div className="row-end">
        <Badge meaning="waiting">Waiting</Badge>
        <SendAgain className="quiet" />
        <form method="post">
          <button type="submit" name="intent" value="cancel-email" className="quiet">
            Cancel the change
          </button>
        </form>
      </div>
    </Row>
  );
}

/** Asks for the pending change again, so that its mail is sent again. */
export function SendAgain({ className }: { className: string }) {
  return (
    <form method="post" action={emailPage}>
      <button type="submit" name="intent" value="again" className={className}>
        Send it again
      </button>
    </form>
  );
}
