import { Icon } from '../icon.tsx';
import { accountPages } from './account-pages.ts';

/** The navigation of the account: beside the content, and on a phone above it. */
export function AccountNav({ current }: { current: string }) {
  return (
    <nav className="account-nav" aria-label="Your account">
      <ul>
        {accountPages.map(({ path, icon, title }) => (
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
