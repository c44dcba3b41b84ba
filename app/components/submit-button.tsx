import { useNavigation } from '@remix-run/react';
import type { ReactNode } from 'react';

type SubmitButtonProps = {
  /** Tells the action what to do. */
  intent: string;
  /** Shown while this form is being sent. */
  busy: string;
  quiet?: boolean;
  danger?: boolean;
  children: ReactNode;
};

export function SubmitButton({ intent, busy, quiet, danger, children }: SubmitButtonProps) {
  const { state, formData } = useNavigation();
  const isBusy = state !== 'idle' && formData?.get('intent') === intent;
  return (
    <button
      type="submit"
      name="intent"
      value={intent}
      className={danger ? 'danger' : quiet ? 'quiet' : undefined}
      aria-disabled={isBusy}
    >
      {isBusy ? busy : children}
    </button>
  );
}
