import type { ReactNode } from 'react';
import { Notice } from './notice.tsx';

type TooManyProps = {
  /** How long to wait. Undefined if waiting does not help. */
  minutes: number | undefined;
  /** What happened, if the cause was not too many attempts. */
  about?: string | undefined;
  /** The words that introduce the list of `children`. */
  meanwhile?: string;
  focus?: boolean;
  /** List items that say what people can do until the wait is over. */
  children?: ReactNode;
};

/** Says how long to wait, and what people can do until then, on every page with a 429 (contract 9.197). */
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

/** Describes a wait, such as "43 minutes". Long waits are in hours. */
export function sayWait(minutes: number): string {
  const [count, unit] = minutes < 120 ? [minutes, 'minute'] : [Math.ceil(minutes / 60), 'hour'];
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
