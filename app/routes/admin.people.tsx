import { type LoaderFunctionArgs, redirect } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { EmptyState } from '../components/empty-state.tsx';
import { titled } from '../components/service-name.ts';
import { Filters, FindField, isFiltered } from '../components/staff/filters.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { PersonState, personPath, roleWords, Select, ShortName } from '../components/staff/words.tsx';
import { type Column, sayCount, Table } from '../components/table.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('People');

export async function loader(args: LoaderFunctionArgs) {
  const loaded = await loadList(args, ['q', 'role', 'state'], (procedures, { q = '', ...filters }) =>
    procedures.admin.people.find({ q, filters }),
  );
  const { asked, list } = loaded.data;
  if (asked.q.trim() === '' || !list) return loaded;
  const named = list.people.filter(({ email }) => email === asked.q.trim().toLowerCase());
  const [only, ...others] = named.length > 0 ? named : list.people;
  if (others.length > 0) return loaded;
  // A search for a document's number finds the buyer, or nobody if the buyer is erased. In both cases the document is shown.
  const number = await args.context.procedures.booksForms.searched({ q: asked.q });
  if (number !== null) throw redirect(`/admin/invoices/${number}`, 303);
  if (only) throw redirect(personPath(only.id), 303);
  return loaded;
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
  ['unproved', 'Email not verified'],
  ['waiting', 'Waiting for verification'],
  ['leaving', 'Leaving'],
];

const columns: Column[] = [
  { label: 'Person' },
  { label: 'Address' },
  { label: 'Account' },
  { label: 'Role' },
  { label: 'State', kind: 'state' },
];

export default function People() {
  const { who, list, fault, asked } = useLoaderData<typeof loader>();
  const found =
    list && (list.more ? 'More than 50 people' : sayCount(list.people.length, 'person', 'people'));
  const heading = (isFiltered(asked) && found) || 'Newest people';
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
        <FindField defaultValue={asked.q} error={fault} autoFocus={!isFiltered(asked)} />
        <Select label="Role" name="role" value={asked.role} options={roles} />
        <Select label="State" name="state" value={asked.state} options={states} />
      </Filters>
      <section aria-labelledby="found">
        <div className="section-heading">
          <h2 id="found">{heading}</h2>
        </div>
        <div className="card">
          {!list?.people.length ? (
            <EmptyState heading="h3" icon="people" title={fault ? 'Nothing was searched' : 'Nobody found'}>
              <p>{fault ?? 'Try fewer letters, another word, or fewer filters.'}</p>
            </EmptyState>
          ) : (
            <Table name="people" caption={heading} columns={columns} rows={list.people.map(toRow)} />
          )}
          {list?.more && (
            <p data-more className="hint">
              There are more: type more.
            </p>
          )}
        </div>
      </section>
    </StaffPage>
  );
}

type Person = NonNullable<ReturnType<typeof useLoaderData<typeof loader>>['list']>['people'][number];

const toRow = ({ id, name, email, account, role, state }: Person) => ({
  key: id,
  data: { 'data-user-id': id },
  cells: [
    <a key="name" href={personPath(id)}>
      <ShortName>{name}</ShortName>
    </a>,
    <ShortName key="email">{email}</ShortName>,
    account !== null && <ShortName key="account">{account}</ShortName>,
    roleWords[role] ?? role,
    state !== null && <PersonState state={state} />,
  ],
});
