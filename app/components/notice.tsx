import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';

const icons = { success: 'check', error: 'alert', warning: 'info', info: 'info' } as const;

type NoticeProps = {
  kind: keyof typeof icons;
  /** Set this for the outcome of a form. The notice then takes the focus, which brings it into view. */
  focus?: boolean;
  children: ReactNode;
};

export function Notice({ kind, focus = false, children }: NoticeProps) {
  return (
    <div
      className={`notice ${kind}`}
      role={kind === 'error' ? 'alert' : 'status'}
      tabIndex={focus ? -1 : undefined}
      // biome-ignore lint/a11y/noAutofocus: people want to know what just happened, also without script
      autoFocus={focus}
    >
      <Icon name={icons[kind]} />
      <div>{children}</div>
    </div>
  );
}

export function MailUnderWay({ keepsMails }: { keepsMails: boolean }) {
  return (
    <>
      <p>It can take a few minutes to arrive. If you cannot find it, check your spam folder.</p>
      {keepsMails && <KeptMails />}
    </>
  );
}

export function KeptMails() {
  return (
    <p>
      In local mode, read the email at <a href="/dev/mail">/dev/mail</a>.
    </p>
  );
}
