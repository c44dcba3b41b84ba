import type { Person } from './acts.tsx';
import { Name, personPath, roleWords } from './words.tsx';

export function PersonFacts({ person }: { person: Person }) {
  const { id, name, email, role, account, emailVerifiedAt, holdsEmail } = person;
  return (
    <section aria-labelledby="who">
      <h2 id="who" className="visually-hidden">
        Who it is
      </h2>
      <div className="card">
        <dl className="facts">
          <dt>Name</dt>
          <dd>
            <Name>{name}</Name>
          </dd>
          <dt>Email address</dt>
          <dd>
            <Name>{email}</Name>{' '}
            {emailVerifiedAt ? '(verified)' : holdsEmail ? '(not verified)' : '(only typed by somebody)'}
          </dd>
          <dt>Role</dt>
          <dd>{roleWords[role]}</dd>
          <dt>Account</dt>
          <dd>
            <Name>{account.name}</Name>
          </dd>
          <dt>Others in it</dt>
          <dd>
            {account.others.length === 0
              ? 'Nobody'
              : account.others.map((other) => (
                  <div key={other.id}>
                    <a className="alone" href={personPath(other.id)}>
                      <Name>{other.name}</Name>
                    </a>{' '}
                    <Name>{other.email}</Name>
                    {other.role !== 'user' && `, ${roleWords[other.role]}`}
                  </div>
                ))}
          </dd>
          <dt>User id</dt>
          <dd>
            <code>{id}</code>
          </dd>
        </dl>
        <div className="actions">
          <a href={`/admin/audit?person=${id}`}>See them in the audit</a>
          {role !== 'user' && <a href={`/admin/audit?staff=${id}`}>See what they did as staff</a>}
        </div>
      </div>
    </section>
  );
}
