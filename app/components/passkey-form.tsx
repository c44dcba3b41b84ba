import type { ReactNode } from 'react';
import scriptUrl from '../passkeys/forms.ts?worker&url';

type PasskeyFormProps = {
  /** What the passkey is for. The page sends this word to /passkeys/options. */
  purpose: 'login' | 'confirm' | 'add' | 'arrive' | 'take-back' | 'new-address';
  /** The field that carries the browser's answer. */
  name: string;
  /** The URL that the form is posted to; by default, the URL of the page. */
  action?: string;
  className?: string;
  /** What people can do if the passkey does not work here, such as "log in with your password". */
  otherwise?: string;
  /** Shown if the browser does not support passkeys, or runs no script. */
  instead?: ReactNode;
  /**
   * The other fields, and the button. When the button is pressed, a hidden field with `data-as-typed` gets the text that was
   * typed into the visible field with the same name.
   */
  children: ReactNode;
};

/** Only script can ask the browser for a passkey, so without script the form is hidden. */
export function PasskeyForm({
  purpose,
  name,
  action,
  className,
  otherwise,
  instead,
  children,
}: PasskeyFormProps) {
  return (
    <div data-passkey={purpose} data-otherwise={otherwise}>
      <form method="post" action={action} className={className} hidden>
        <input type="hidden" name={name} data-answer="" />
        {children}
        <p className="error" role="alert" data-fault="" hidden />
      </form>
      {instead && <div data-instead="">{instead}</div>}
      <script type="module" src={scriptUrl} />
    </div>
  );
}
