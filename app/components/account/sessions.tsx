import type { Refused } from '../../refused.ts';
import { Badge } from '../badge.tsx';
import { Disclosure } from '../disclosure.tsx';
import { Field } from '../field.tsx';
import { Instant } from '../instant.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { Outcome } from './outcome.tsx';

type Listed = {
  id: string;
  device: string;
  kind: 'phone' | 'tablet' | 'computer' | undefined;
  /** Roughly where the browser was when the session began. Null if unknown. */
  place: string | null;
  address: string;
  createdAt: Date;
  lastSeenAt: Date;
  current: boolean;
};

type SessionsProps = {
  sessions: Listed[];
  /** Whether the password is needed to end other sessions. */
  needsPassword: boolean;
  saved: string | null;
  refused: Refused | undefined;
};

const kinds = { phone: 'Phone', tablet: 'Tablet', computer: 'Computer' };

export function Sessions({ sessions, needsPassword, saved, refused }: SessionsProps) {
  const others = refused?.values.intent === 'end-others' ? refused : undefined;
  return (
    <Section id="sessions" title="Where you are logged in">
      <Outcome intent="end-session" saved={saved} refused={refused}>
        You are logged out on that device.
      </Outcome>
      <Outcome intent="end-others" saved={saved} refused={refused}>
        You are logged out everywhere else.
      </Outcome>
      <Rows>
        {sessions.map((session) => (
          <Row
            key={session.id}
            icon={session.kind === 'phone' ? 'phone' : 'screen'}
            title={session.device}
            about={
              <>
                {[session.kind && kinds[session.kind], session.place, session.address]
                  .filter(Boolean)
                  .join(' · ')}
                <br />
                Logged in <Instant at={session.createdAt} />
                {!session.current && (
                  <>
                    <br />
                    Last active <Instant at={session.lastSeenAt} />
                  </>
                )}
              </>
            }
            end={
              session.current ? (
                <Badge meaning="good">This browser</Badge>
              ) : (
                !needsPassword && <EndSession {...session} />
              )
            }
          >
            {!session.current && needsPassword && <EndSession {...session} needsPassword refused={refused} />}
          </Row>
        ))}
      </Rows>
      {sessions.length > 1 && (
        <form method="post" className="aside">
          {needsPassword ? (
            <Disclosure label="Log out everywhere else" open={others !== undefined}>
              <CurrentPassword refused={others} />
              <EndOthers />
            </Disclosure>
          ) : (
            <EndOthers />
          )}
        </form>
      )}
    </Section>
  );
}

const EndOthers = () => (
  <button type="submit" name="intent" value="end-others" className="quiet">
    Log out everywhere else
  </button>
);

type EndSessionProps = Pick<Listed, 'id' | 'device' | 'createdAt'> & {
  needsPassword?: boolean;
  refused?: Refused | undefined;
};

function EndSession({ id, device, createdAt, needsPassword, refused }: EndSessionProps) {
  // Two sessions may be in browsers of the same kind, so the label has the time, too.
  const label = (
    <>
      Log out
      <span className="visually-hidden">
        {' '}
        of {device}, logged in <Instant at={createdAt} />
      </span>
    </>
  );
  const button = (
    <button type="submit" name="intent" value="end-session" className="quiet">
      {label}
    </button>
  );
  const mine = refused?.values.intent === 'end-session' && refused.values.id === id ? refused : undefined;
  return (
    <form method="post">
      <input type="hidden" name="id" value={id} />
      {needsPassword ? (
        <Disclosure label={label} open={mine !== undefined}>
          <CurrentPassword refused={mine} />
          {button}
        </Disclosure>
      ) : (
        button
      )}
    </form>
  );
}

function CurrentPassword({ refused }: { refused?: Refused | undefined }) {
  return (
    <Field
      label="Current password"
      hint="We ask again because you last entered it more than 10 minutes ago."
      name="currentPassword"
      type="password"
      autoComplete="current-password"
      required
      error={refused?.errors.currentPassword}
    />
  );
}
