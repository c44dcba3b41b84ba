import { data, type LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { EmptyState } from '../components/empty-state.tsx';
import { Field } from '../components/field.tsx';
import { titled } from '../components/service-name.ts';
import { Filters } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Name, PersonState, personPath, roleWords, Select } from '../components/staff/words.tsx';
import { loadForStaff } from '../staff.ts';

/** The form is the browser's own: no script keeps what is shown of people. */
export const handle = { isStatic: true };

export const meta = titled('People');

export async function loader(args: LoaderFunctionArgs) {
  const { transport, visit } = args.context;
  const query = transport.readQuery(args.request);
  const [q, role, state] = [query.get('q') ?? '', query.get('role') ?? '', query.get('state') ?? ''];
  const loaded = await loadForStaff(args, async (procedures) => {
    const filters = { ...(role && { role }), ...(state && { state }) };
    try {
      return { ...(await procedures.admin.people.find({ q, filters })), fault: undefined };
    } catch (error) {
      const refusal = transport.readRefusal(error, visit);
      if (refusal.code !== 'validation_failed') throw error;
      return { people: [], more: false, fault: refusal.errors[0]?.detail ?? refusal.detail };
    }
  });
  return data({ ...loaded, q, role, state }, { status: loaded.fault === undefined ? 200 : 422 });
}

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
  ['unproved', 'Address not proved'],
  ['waiting', 'Waiting for verification'],
  ['leaving', 'Leaving'],
];

export default function People() {
  const { who, people, more, fault, q, role, state } = useLoaderData<typeof loader>();
  const isFiltered = q !== '' || role !== '' || state !== '';
  return (
    <StaffPage
      title="People"
      intro="Find the person who asks for help, by a name, an address or a number that they know."
      who={who}
      current="/admin/people"
    >
      <Filters path="/admin/people" asked={{ q, role, state }} button="Find people">
        <Field
          label="Find"
          hint="The beginning of a word of their name, account or address. Or a whole earlier address, or number of a user, marketplace user, signup, invoice or credit note."
          name="q"
          type="search"
          defaultValue={q}
          error={fault}
          autoComplete="off"
          autoFocus={!isFiltered || fault !== undefined}
        />
        <Select label="Role" name="role" value={role} options={roles} />
        <Select label="State" name="state" value={state} options={states} />
      </Filters>
      <section aria-labelledby="found">
        <div className="section-heading">
          <h2 id="found">{isFiltered ? 'Found' : 'Newest people'}</h2>
        </div>
        {people.length === 0 ? (
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
                {people.map((person) => (
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
            {more && (
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
