import { Icon } from '../icon.tsx';
import { accountPages } from './places.ts';

/** The navigation of the account: beside the content, and on a phone above it. */
export function AccountNav({ places, current }: { places: string[]; current: string }) {
  return (
    <nav className="account-nav" aria-label="Your account">
      <ul>
        {accountPages
          .filter(({ path }) => places.includes(path))
          .map(({ path, icon, title }) => (
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
