import { Badge } from '../badge.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import type { waysToLogIn } from './account-pages.ts';

type WaysProps = {
  hasPassword: boolean;
  ways: (Omit<(typeof waysToLogIn)[number], 'isOn' | 'sayState'> & { isOn: boolean; state: string })[];
  /** How many of the ten recovery codes are unused. Undefined if no factor has recovery codes. */
  codesLeft: number | undefined;
};

export function WaysToLogIn({ hasPassword, ways, codesLeft }: WaysProps) {
  return (
    <Section id="ways" title="Ways to log in">
      <Rows>
        <Row
          icon="lock"
          title="Password"
          href="#password"
          about={hasPassword ? 'Change it below.' : 'Set one by email below.'}
          end={<Badge meaning={hasPassword ? 'good' : 'neutral'}>{hasPassword ? 'Set' : 'Not set'}</Badge>}
        />
        {ways.map(({ path, isOn, state, ...way }) => (
          <Row
            key={path}
            href={path}
            end={<Badge meaning={isOn ? 'good' : 'neutral'}>{state}</Badge>}
            {...way}
          />
        ))}
        {codesLeft !== undefined && (
          <Row
            icon="shield"
            title="Recovery codes"
            href="/profile/authenticator#codes"
            about="Use one to log in if you lose your phone."
            end={<Badge meaning={codesLeft < 3 ? 'needs-you' : 'good'}>{`${codesLeft} of 10 left`}</Badge>}
          />
        )}
      </Rows>
    </Section>
  );
}
