import { Fact } from '../fact.tsx';
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
          <Fact name="Name">
            <Name>{name}</Name>
          </Fact>
          <Fact name="Email address">
            <Name>{email}</Name>{' '}
            {emailVerifiedAt ? '(verified)' : holdsEmail ? '(not verified)' : '(only typed by somebody)'}
          </Fact>
          <Fact name="Role">{roleWords[role]}</Fact>
          <Fact name="Account">
            <Name>{account.name}</Name>
          </Fact>
          <Fact name="Others in it">
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
          </Fact>
          <Fact name="User id">
            <code>{id}</code>
          </Fact>
        </dl>
        <div className="actions">
          <a href={`/admin/audit?person=${id}`}>See them in the audit</a>
          {role !== 'user' && <a href={`/admin/audit?staff=${id}`}>See what they did as staff</a>}
        </div>
      </div>
    </section>
  );
}
