import { Form } from '@remix-run/react';
import { Field } from '../field.tsx';
import { Instant } from '../instant.tsx';
import { SubmitButton } from '../submit-button.tsx';
import type { Refused } from './names-form.tsx';

type Listed = {
  id: string;
  device: string;
  address: string;
  createdAt: Date;
  lastSeenAt: Date;
  current: boolean;
};

type SessionsProps = {
  sessions: Listed[];
  /** Ending any but this one takes the password. */
  needsPassword: boolean;
  refused: { one?: Refused; others?: Refused };
};

export function Sessions({ sessions, needsPassword, refused }: SessionsProps) {
  return (
    <section aria-labelledby="sessions">
      <h2 id="sessions">Where you are logged in</h2>
      <div className="card">
        <ul className="rows">
          {sessions.map((session) => (
            <li key={session.id}>
              <div>
                <strong>{session.device}</strong>
                <p className="hint">
                  {session.address}, logged in <Instant at={session.createdAt} />
                </p>
                <p className="hint">
                  Last active <Instant at={session.lastSeenAt} />
                </p>
              </div>
              {session.current ? (
                <span className="tag on">This browser</span>
              ) : (
                <EndSession {...session} needsPassword={needsPassword} refused={refused.one} />
              )}
            </li>
          ))}
        </ul>
        {sessions.length > 1 && (
          <Form method="post" preventScrollReset>
            {needsPassword && <CurrentPassword refused={refused.others} />}
            <SubmitButton intent="end-others" busy="Logging out…" quiet>
              Log out everywhere else
            </SubmitButton>
          </Form>
        )}
      </div>
    </section>
  );
}

type EndSessionProps = Pick<Listed, 'id' | 'device'> & { needsPassword: boolean; refused?: Refused };

function EndSession({ id, device, needsPassword, refused }: EndSessionProps) {
  const button = (
    <SubmitButton intent="end-session" busy="Logging out…" quiet>
      Log out<span className="visually-hidden"> of {device}</span>
    </SubmitButton>
  );
  const mine = refused?.values.id === id ? refused : undefined;
  return (
    <Form method="post" preventScrollReset>
      <input type="hidden" name="id" value={id} />
      {needsPassword ? (
        <details open={mine !== undefined}>
          <summary>Log out</summary>
          <CurrentPassword refused={mine} />
          {button}
        </details>
      ) : (
        button
      )}
    </Form>
  );
}

function CurrentPassword({ refused }: { refused?: Refused }) {
  return (
    <Field
      label="Current password"
      hint="We ask because you gave it more than 10 minutes ago."
      name="currentPassword"
      type="password"
      autoComplete="current-password"
      required
      error={refused?.errors.currentPassword}
    />
  );
}
