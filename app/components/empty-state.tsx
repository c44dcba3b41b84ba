import type { ReactNode } from 'react';
import { Icon, type IconName } from './icon.tsx';

/** Stands where a list will be: what the list will show, and how things get there. */
export function EmptyState({
  icon,
  title,
  children,
}: {
  icon: IconName;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <h3>{title}</h3>
      {children}
    </div>
  );
}
