import type { Who } from '../../staff.ts';
import { EmptyState } from '../empty-state.tsx';
import { Field } from '../field.tsx';
import { type Column, sayCount, Table, type TableRow } from '../table.tsx';
import { Filters, isFiltered, MorePeople, Pages, pathOf } from './filters.tsx';
import { StaffPage } from './staff-page.tsx';
import { personPath, Select, ShortName } from './words.tsx';

type BookListProps = {
  name: 'contracts' | 'invoices';
  who: Who;
  asked: { q: string; state: string; sort: string };
  states: [value: string, words: string][];
  /** What people call the numbers that find a contract or invoice. The label of the search field contains these words. */
  numbers: string;
  columns: Column[];
  /** The order of the list if the page's URL has no `sort`. */
  firstSort: string;
  isFirst: boolean;
  /** Null if the page's URL was not valid. */
  list: { next: string | null; count: number | null; more: boolean } | null;
  rows: TableRow[];
  fault: string | undefined;
  faultAt: string | undefined;
};

export function BookList({
  name,
  who,
  asked,
  states,
  numbers,
  columns,
  firstSort,
  isFirst,
  list,
  rows,
  fault,
  faultAt,
}: BookListProps) {
  const path = `/admin/${name}`;
  const title = name === 'contracts' ? 'Contracts' : 'Invoices';
  const heading = list ? sayCount(list.count, name.slice(0, -1), name) : 'Nothing was searched';
  return (
    <StaffPage title={title} who={who} current="/admin/billing" part={path}>
      <Filters path={path} asked={asked}>
        <Field
          label="Find"
          hint={`${numbers}, or what finds the person: the beginning of a word of their name, account or address.`}
          name="q"
          type="search"
          defaultValue={asked.q}
          error={faultAt === '/q' ? fault : undefined}
          autoComplete="off"
        />
        <Select label="State" name="state" value={asked.state} options={[['', 'Any'], ...states]} />
      </Filters>
      <section aria-labelledby="found">
        <div className="section-heading">
          <h2 id="found">{heading}</h2>
        </div>
        {list?.more && <MorePeople of={name} />}
        <div className="card">
          {rows.length > 0 ? (
            <Table
              name={name}
              caption={heading}
              columns={columns}
              rows={rows}
              sort={asked.sort || firstSort}
              sortPath={(sort) => pathOf(path, { ...asked, sort })}
            />
          ) : (
            <EmptyState heading="h3" icon="invoice" title={`No ${name}`}>
              <p>
                {!list
                  ? faultAt === '/q'
                    ? fault
                    : 'The address of this page is not right. Choose a state.'
                  : isFiltered(asked)
                    ? 'Try another state, fewer letters or another word.'
                    : 'There are none yet.'}
              </p>
            </EmptyState>
          )}
        </div>
        <Pages
          {...{ path, isFirst, asked }}
          next={list?.next}
          of={`the ${name}`}
          words={['More', 'Back to the first']}
        />
      </section>
    </StaffPage>
  );
}

/** Links to the person's page unless the person was erased. */
export function Owner({ email, userId }: { email: string | null; userId: string | null }) {
  if (email === null || userId === null) return <>Somebody who was erased</>;
  return (
    <a href={personPath(userId)}>
      <ShortName>{email}</ShortName>
    </a>
  );
}
