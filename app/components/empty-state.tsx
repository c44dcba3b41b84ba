import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

/** Shown in place of an empty list. It says what the list will show, and how entries get there. */
export function EmptyState({
  icon,
  title,
  heading: Heading = 'h2',
  children,
}: {
  icon: IconName;
  title: string;
  /** Set this to `h3` inside a section with a heading. */
  heading?: 'h2' | 'h3';
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <Heading>{title}</Heading>
      {children}
    </div>
  );
}
