import { Form } from '@remix-run/react';
import { Instant } from '../instant.tsx';
import { SubmitButton } from '../submit-button.tsx';

type Listed = {
  id: string;
  device: string;
  address: string;
  createdAt: Date;
  lastSeenAt: Date;
  current: boolean;
};

export function Sessions({ sessions }: { sessions: Listed[] }) {
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
                <Form method="post" preventScrollReset>
                  <input type="hidden" name="id" value={session.id} />
                  <SubmitButton intent="end-session" busy="Logging out…" quiet>
                    Log out<span className="visually-hidden"> of {session.device}</span>
                  </SubmitButton>
                </Form>
              )}
            </li>
          ))}
        </ul>
        {sessions.length > 1 && (
          <Form method="post" preventScrollReset>
            <SubmitButton intent="end-others" busy="Logging out…" quiet>
              Log out everywhere else
            </SubmitButton>
          </Form>
        )}
      </div>
    </section>
  );
}
