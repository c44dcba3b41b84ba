import type { ReactNode } from 'react';
import { Notice } from './notice.tsx';

type TooManyProps = {
  /** How long to wait. Undefined if waiting does not help. */
  minutes: number | undefined;
  /** What happened, if it is not that there were too many attempts. */
  about?: string;
  /** What the list below is. */
  meanwhile?: string;
  focus?: boolean;
  /** What works meanwhile: items of a list. */
  children?: ReactNode;
};

/** What every page with a 429 says: for how long, and what else works meanwhile (contract 9.197). */
export function TooMany({
  minutes,
  about = 'There have been too many attempts in a short time.',
  meanwhile = 'Until then, you can:',
  focus,
  children,
}: TooManyProps) {
  return (
    <Notice kind="error" focus={focus}>
      <p>
        {about}
        {minutes !== undefined && ` Try again in ${sayWait(minutes)}.`}
        {children && ` ${meanwhile}`}
      </p>
      {children && <ul>{children}</ul>}
    </Notice>
  );
}

/** Such as "43 minutes", or in hours if the wait is long. */
export function sayWait(minutes: number): string {
  const [count, unit] = minutes < 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
