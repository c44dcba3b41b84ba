import { Badge } from '../badge.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { emailPage } from './places.ts';

type EmailAddressProps = {
  email: string;
  isVerified: boolean;
  canChange: boolean;
};

export function EmailAddress({ email, isVerified, canChange }: EmailAddressProps) {
  return (
    <Section id="email-address" title="Email address">
      <Rows>
        <Row
          icon="mail"
          title={email}
          about={
            isVerified
              ? 'You log in with it, and we write to it about your account.'
              : 'You need to verify your email address before you can open other products.'
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
              {isVerified && canChange && (
                <a className="button quiet" href={emailPage}>
                  Change<span className="visually-hidden"> your email address</span>
                </a>
              )}
            </>
          }
        />
      </Rows>
    </Section>
  );
}
