import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { EmptyState } from '../components/empty-state.tsx';
import { Field } from '../components/field.tsx';
import { titled } from '../components/service-name.ts';
import { Filters, isFiltered } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonState, personPath, roleWords, Select } from '../components/staff/words.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('People');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(args, ['q', 'role', 'state'], (procedures, { q = '', ...filters }) =>
    procedures.admin.people.find({ q, filters }),
  );

const roles: [string, string][] = [
  ['', 'Anyone'],
  ['user', 'Customers'],
  ['manager', 'Managers'],
  ['admin', 'Administrators'],
];

const states: [string, string][] = [
  ['', 'Any'],
  ['suspended', 'Suspended'],
  ['frozen', 'Frozen'],
  ['unproved', 'Email not verified'],
  ['waiting', 'Waiting for verification'],
  ['leaving', 'Leaving'],
];

export default function People() {
  const { who, list, fault, asked } = useLoaderData<typeof loader>();
  return (
    <StaffPage
      title="People"
      intro="Find the person who asks for help, by a name, an address or a number that they know."
      who={who}
      current="/admin/people"
    >
      {who.role === 'admin' && (
        <p className="actions">
          <a className="button secondary" href="/admin/invitations">
            Invite to the staff
          </a>
        </p>
      )}
      <Filters path="/admin/people" asked={asked} button="Find people">
        <Field
          label="Find"
          hint="The beginning of a word of their name, account or address. Or a whole earlier address, or number of a user, marketplace user, signup, invoice or credit note."
          name="q"
          type="search"
          defaultValue={asked.q}
          error={fault}
          autoComplete="off"
          autoFocus={!isFiltered(asked)}
        />
        <Select label="Role" name="role" value={asked.role} options={roles} />
        <Select label="State" name="state" value={asked.state} options={states} />
      </Filters>
      <section aria-labelledby="found">
        <div className="section-heading">
          <h2 id="found">{isFiltered(asked) ? 'Found' : 'Newest people'}</h2>
        </div>
        {!list?.people.length ? (
          <div className="card">
            <EmptyState heading="h3" icon="people" title={fault ? 'Nothing was searched' : 'Nobody found'}>
              <p>{fault ?? 'Try fewer letters, another word, or fewer filters.'}</p>
            </EmptyState>
          </div>
        ) : (
          <div className="card">
            <table className="people">
              <thead>
                <tr>
                  <th scope="col">Person</th>
                  <th scope="col">Account</th>
                  <th scope="col">Role</th>
                  <th scope="col">State</th>
                </tr>
              </thead>
              <tbody>
                {list.people.map((person) => (
                  <tr key={person.id} data-user-id={person.id}>
                    <td>
                      <a href={personPath(person.id)}>
                        <span className="two-lines">
                          <Name>{person.name}</Name>
                        </span>
                      </a>
                      <span className="hint">
                        <Name>{person.email}</Name>
                      </span>
                    </td>
                    <td>
                      <span className="two-lines">
                        {person.account !== null && <Name>{person.account}</Name>}
                      </span>
                    </td>
                    <td>{roleWords[person.role] ?? person.role}</td>
                    <td>{person.state !== null && <PersonState state={person.state} />}</td>
                  </tr>
                ))}
              </tbody>
            </table>
            {list.more && (
              <p data-more className="hint">
                There are more: type more.
              </p>
            )}
          </div>
        )}
      </section>
    </StaffPage>
  );
}
