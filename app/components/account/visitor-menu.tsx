import { Icon } from '../icon.tsx';

export function VisitorMenu({ email, isStaff = false }: { email: string; isStaff?: boolean }) {
  return (
    <details className="menu">
      <summary>
        <span className="visually-hidden">Your account</span>
        <span className="avatar" aria-hidden="true">
          {email.charAt(0).toUpperCase()}
        </span>
        <span className="visitor-email">{email}</span>
        <Icon name="down" />
      </summary>
      <div className="menu-inside">
        <p>
          Logged in as <strong>{email}</strong>
        </p>
        <a href="/profile">
          <Icon name="user" />
          Your profile
        </a>
        <a href="/profile/security">
          <Icon name="shield" />
          Security
        </a>
        {isStaff && (
          <a href="/admin">
            <Icon name="people" />
            Administration
          </a>
        )}
        <form method="post" action="/logout">
          <button type="submit">
            <Icon name="exit" />
            Log out
          </button>
        </form>
      </div>
    </details>
  );
}
