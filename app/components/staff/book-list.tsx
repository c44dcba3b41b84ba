import type { ReactNode } from 'react';
import type { Who } from '../../staff.ts';
import { EmptyState } from '../empty-state.tsx';
import { Rows } from '../rows.tsx';
import { Filters, Pages } from './filters.tsx';
import { StaffPage } from './staff-page.tsx';
import { Name, personPath, Select } from './words.tsx';

type BookListProps = {
  path: '/admin/contracts' | '/admin/invoices';
  title: 'Contracts' | 'Invoices';
  who: Who;
  asked: { state: string };
  states: [value: string, words: string][];
  isFirst: boolean;
  next: string | null | undefined;
  /** The rows; undefined if the page's address was not valid. */
  children: ReactNode[] | undefined;
};

export function BookList({ path, title, who, asked, states, isFirst, next, children }: BookListProps) {
  const { state } = asked;
  const things = title.toLowerCase();
  return (
    <StaffPage title={title} who={who} current="/admin/billing" part={path}>
      <Filters path={path} asked={asked}>
        <Select label="State" name="state" value={state} options={[['', 'Any'], ...states]} />
      </Filters>
      <section aria-labelledby="found">
        <div className="section-heading">
          <h2 id="found">{`${isFirst ? 'Newest' : 'Earlier'} ${things}`}</h2>
        </div>
        <div className="card">
          {children && children.length > 0 ? (
            <Rows>{children}</Rows>
          ) : (
            <EmptyState heading="h3" icon="invoice" title={`No ${things}`}>
              <p>
                {children
                  ? state
                    ? 'None is in this state.'
                    : 'There are none yet.'
                  : 'The address of this page is not right. Choose a state.'}
              </p>
            </EmptyState>
          )}
        </div>
        <Pages {...{ path, next, isFirst }} asked={asked} of={`the ${things}`} />
      </section>
    </StaffPage>
  );
}

/** Links to the person's page if there is an id. */
export function Owner({ email, userId = null }: { email: string | null; userId?: string | null }) {
  if (email === null) return <>of somebody who was erased</>;
  const name = <Name>{email}</Name>;
  return userId === null ? name : <a href={personPath(userId)}>{name}</a>;
}
