import type { ReactNode } from 'react';
import type { Refused } from '../../refused.ts';
import { Notice } from '../notice.tsx';
import { TooMany } from '../too-many.tsx';

/** The outcome of a form, shown beside that form. */
export function Outcome({
  intent,
  saved,
  refused,
  otherwise,
  children,
}: {
  intent: string;
  saved: string | null;
  refused: Refused | undefined;
  /** List items that say what people can still do after too many tries. */
  otherwise?: ReactNode;
  /** What is shown after a success. */
  children: ReactNode;
}) {
  if (refused?.values.intent === intent && refused.minutes)
    return (
      <TooMany minutes={refused.minutes} focus>
        {otherwise}
      </TooMany>
    );
  if (refused?.values.intent === intent && refused.message)
    return (
      <Notice kind="error" focus>
        {refused.message}
      </Notice>
    );
  if (!refused && saved === intent)
    return (
      <Notice kind="success" focus>
        {children}
      </Notice>
    );
  return null;
}
