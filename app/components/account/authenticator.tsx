import type { ReactNode } from 'react';
import type { SetUp } from '../../../server/identity/factor/authenticator.ts';
import { withNext } from '../../next.ts';
import { Field } from '../field.tsx';
import { Day, Instant } from '../instant.tsx';
import { Page } from '../page.tsx';
import { ServiceName } from '../service-name.ts';
import { NewBrowserNote } from './new-browser.tsx';

type Revocable = { email: string; isRevocable: boolean };

export function AuthenticatorOff({ comesFirst, email, isRevocable }: Revocable & { comesFirst: boolean }) {
  return (
    <form method="post" className="card">
      <p>
        You need an authenticator app on your phone, such as Google Authenticator, Microsoft Authenticator or
        2FAS. Many password managers can do this too.
      </p>
      <p>
        You will also get 10 recovery codes to log in with if you lose your phone. Do not keep them only on
        your phone.
      </p>
      {isRevocable && <NewBrowserNote what="the app" email={email} />}
      <p className="hint">Setting it up will log you out everywhere else.</p>
      <input type="hidden" name="intent" value="set-up" />
      <div className="actions">
        <button type="submit">Set up the app</button>
        {!comesFirst && <a href="/profile/security">Not now</a>}
      </div>
    </form>
  );
}

type OnProps = Revocable & { isRequired: boolean; addedAt: Date; lastUsedAt: Date; codesLeft: number };

export function AuthenticatorOn({ email, isRequired, isRevocable, addedAt, lastUsedAt, codesLeft }: OnProps) {
  return (
    <>
      <div className="card">
        <dl className="facts">
          <dt>Set up</dt>
          <dd>
            <Day at={addedAt} />
          </dd>
          <dt>Last used</dt>
          <dd>
            <Instant at={lastUsedAt} />
          </dd>
          <dt>Recovery codes left</dt>
          <dd>{codesLeft} of 10</dd>
        </dl>
        <p className="hint">
          If you lose your phone, log in with a recovery code and set up the app again. If you lose both, only
          our support team can let you in.
        </p>
      </div>
      <section aria-labelledby="codes">
        <h2 id="codes">New recovery codes</h2>
        <form method="post" className="card">
          <p>
            Make new codes if you have few left, or if someone may have seen them. The old ones will stop
            working.
          </p>
          {isRevocable && <NewBrowserNote what="new codes" email={email} />}
          <input type="hidden" name="intent" value="renew-codes" />
          <button type="submit" className="quiet">
            Make new recovery codes
          </button>
        </form>
      </section>
      <section aria-labelledby="off">
        <h2 id="off">Change your phone or stop using the app</h2>
        <form method="post" className="card">
          <p>
            Turn the app off, then set it up again on your new phone. Until you do, your password is enough to
            log in
            {isRequired &&
              ' and, because your role needs a second factor, you cannot open anything else here'}
            .
          </p>
          <input type="hidden" name="intent" value="turn-off" />
          <button type="submit" className="quiet">
            Turn off the authenticator app
          </button>
        </form>
      </section>
      <p className="aside">
        <a href="/profile/security">Back to Security</a>
      </p>
    </>
  );
}

export type SureOf = 'turn-off' | 'renew-codes';

type SureProps = Revocable & {
  sure: SureOf;
  codesLeft: number;
  isRequired: boolean;
  hasPasskey: boolean;
  next: string | undefined;
};

export function AuthenticatorSure({ sure, next, ...owner }: SureProps) {
  const isOff = sure === 'turn-off';
  return (
    <Page alone title={isOff ? 'Turn off the authenticator app?' : 'Make new recovery codes?'}>
      <form method="post" action={withNext('/profile/authenticator', next)} className="card">
        {isOff ? <WhatTurningOffDoes {...owner} /> : <WhatNewCodesDo {...owner} />}
        <input type="hidden" name="intent" value={sure} />
        <input type="hidden" name="sure" value="yes" />
        <div className="actions">
          <button type="submit" className={isOff ? 'danger' : undefined}>
            {isOff ? 'Turn off the app' : 'Make new codes'}
          </button>
          <a href={withNext('/profile/authenticator', next)}>Cancel</a>
        </div>
      </form>
    </Page>
  );
}

type Owner = Omit<SureProps, 'sure' | 'next'>;

function WhatTurningOffDoes({ email, codesLeft, isRequired, hasPasskey }: Owner) {
  return (
    <>
      <ul className="points">
        <li>Your password alone will be enough to log in.</li>
        {codesLeft > 0 && <li>Your recovery codes will stop working.</li>}
        <li>You will stay logged in, here and everywhere else.</li>
        <li>
          We will email <strong>{email}</strong> to say that the app is off.
        </li>
      </ul>
      {isRequired && !hasPasskey && (
        <p>
          <strong>Your role needs a second factor.</strong> Until you set up the app again or add a passkey,
          you cannot open anything else here.
        </p>
      )}
    </>
  );
}

function WhatNewCodesDo({ email, codesLeft, isRevocable }: Owner) {
  return (
    <>
      <ul className="points">
        {codesLeft > 0 && (
          <li>
            The {codesLeft === 1 ? 'code you have left' : `${codesLeft} codes you have left`} will stop
            working.
          </li>
        )}
        <li>You will get 10 new codes. You will only see them once, so have somewhere ready to save them.</li>
        <li>
          We will email <strong>{email}</strong> to say that you have new codes.
        </li>
      </ul>
      {isRevocable && <NewBrowserNote what="new codes" email={email} />}
    </>
  );
}

type SetUpProps = Revocable & {
  setUp: SetUp;
  error: string | undefined;
  next: string | undefined;
  children?: ReactNode;
};

export function AuthenticatorSetUp({ setUp, error, email, isRevocable, next, children }: SetUpProps) {
  const { secret, uri, qr } = setUp;
  return (
    <Page title="Set up the app">
      {children}
      <form method="post" className="card">
        <p>Open the app on your phone, choose “add an account” and scan this QR code.</p>
        <svg
          className="qr"
          viewBox={`0 0 ${qr.size} ${qr.size}`}
          role="img"
          aria-label="QR code for your authenticator app"
          shapeRendering="crispEdges"
        >
          <path d={qr.path} />
        </svg>
        <p>
          Are you on that phone? <a href={uri}>Open the app here</a>. Or enter this key in the app, for{' '}
          {email}:
        </p>
        <div className="field">
          <code className="key">{secret}</code>
          <button type="button" className="quiet" data-copy={secret.replaceAll(' ', '')} hidden>
            Copy the key
          </button>
        </div>
        <Field
          label="Code that the app shows now"
          hint="6 digits. They show us that the app is set up correctly."
          name="code"
          inputMode="numeric"
          autoComplete="one-time-code"
          required
          error={error}
        />
        {isRevocable && <NewBrowserNote what="the app" email={email} />}
        <div className="actions">
          <button type="submit">Turn on the app</button>
          <a href={withNext('/profile/authenticator', next)}>Cancel</a>
        </div>
      </form>
    </Page>
  );
}

/** Shown if the set-up of the authenticator app was started in another browser or session, or has expired. */
export function AuthenticatorSetUpGone({ next }: { next: string | undefined }) {
  return (
    <Page title="Start again">
      <form method="post" action={withNext('/profile/authenticator', next)} className="card">
        <p>
          Each QR code works for 10 minutes, in the browser where you started, until you log out. Start again
          to get a new one.
        </p>
        <p>If you have scanned the old code, delete its entry in the app on your phone.</p>
        <input type="hidden" name="intent" value="set-up" />
        <div className="actions">
          <button type="submit">Start again</button>
          <a href={withNext('/profile/authenticator', next)}>Cancel</a>
        </div>
      </form>
    </Page>
  );
}

type CodesProps = {
  codes: string[];
  intro: string;
  email: string;
  next: string | undefined;
  nextTitle: string | undefined;
};

/** The link itself contains the whole file, so people can save the file without script. */
export function RecoveryCodes({ codes, intro, email, next, nextTitle }: CodesProps) {
  const text = `Recovery codes for ${email}. Each works once.\n\n${codes.join('\n')}\n`;
  return (
    <Page title="Save your recovery codes" intro={intro}>
      <div className="card">
        <p>
          If you lose your phone, log in with one of these codes instead of a code from the app. Each works
          once.
        </p>
        <p>
          <strong>You will only see them now.</strong> Print or save them, and not only on that phone.
        </p>
        <p className="only-print">
          <ServiceName />, {email}
        </p>
        <ul className="codes">
          {codes.map((code) => (
            <li key={code}>
              <code>{code}</code>
            </li>
          ))}
        </ul>
        <div className="actions">
          <a
            className="button"
            download="recovery-codes.txt"
            href={`data:text/plain;charset=utf-8,${encodeURIComponent(text)}`}
          >
            Download as text
          </a>
          <button type="button" className="quiet" data-copy={codes.join('\n')} hidden>
            Copy the codes
          </button>
          <button type="button" className="quiet" data-print="" hidden>
            Print
          </button>
        </div>
        <div className="actions">
          <a href={next ?? '/profile/security'}>
            {nextTitle ? `I have saved them. Continue to ${nextTitle}` : 'I have saved them. Continue'}
          </a>
        </div>
      </div>
    </Page>
  );
}
