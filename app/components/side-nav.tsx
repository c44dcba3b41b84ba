import type { AccountPage } from './account/account-pages.ts';
import { Icon } from './icon.tsx';

type SideNavProps = { label: string; pages: AccountPage[]; current: string; className?: string };

export function SideNav({ label, pages, current, className = 'account-nav' }: SideNavProps) {
  return (
    <nav className={className} aria-label={label}>
      <ul>
        {pages.map(({ path, icon, title }) => (
          <li key={path}>
            <a href={path} aria-current={path === current ? 'page' : undefined}>
              <Icon name={icon} />
              {title}
            </a>
          </li>
        ))}
      </ul>
    </nav>
  );
}
