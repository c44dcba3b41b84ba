import { Badge } from '../badge.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { waysToLogIn } from './account-pages.ts';

type WaysProps = {
  hasPassword: boolean;
  /** How many. */
  passkeys: number;
  hasApp: boolean;
  /** Recovery codes that are left of ten. Only beside an app. */
  codesLeft: number | undefined;
};

/** What somebody can log in with, a row each, with its state. */
export function WaysToLogIn({ hasPassword, passkeys, hasApp, codesLeft }: WaysProps) {
  const states: Record<string, { isGood: boolean; words: string }> = {
    '/profile/passkeys': { isGood: passkeys > 0, words: passkeys > 0 ? `${passkeys} added` : 'None' },
    '/profile/authenticator': { isGood: hasApp, words: hasApp ? 'On' : 'Off' },
  };
  return (
    <Section id="ways" title="Ways to log in">
      <Rows>
        <Row
          icon="user"
          title="Password"
          href="#password"
          about={hasPassword ? 'Change it below.' : 'Set one by email, below.'}
          end={<Badge meaning={hasPassword ? 'good' : 'neutral'}>{hasPassword ? 'Set' : 'Not set'}</Badge>}
        />
        {waysToLogIn.map(({ path, ...way }) => (
          <Row
            key={path}
            href={path}
            end={<Badge meaning={states[path]?.isGood ? 'good' : 'neutral'}>{states[path]?.words}</Badge>}
            {...way}
          />
        ))}
        {codesLeft !== undefined && (
          <Row
            icon="shield"
            title="Recovery codes"
            href="/profile/authenticator#codes"
            about="To log in with if you lose your phone."
            end={<Badge meaning={codesLeft < 3 ? 'needs-you' : 'good'}>{`${codesLeft} of 10 left`}</Badge>}
          />
        )}
      </Rows>
    </Section>
  );
}
