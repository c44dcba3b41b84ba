import type { LoaderFunctionArgs } from '@remix-run/node';
import type { ReactNode } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { loadForStaff, type Who } from '../../staff.ts';
import { EmptyState } from '../empty-state.tsx';
import { Rows } from '../rows.tsx';
import { Filters, Pages } from './filters.tsx';
import { StaffPage } from './staff-page.tsx';
import { Name, personPath, Select } from './words.tsx';

type Asked = { state: string; before?: string };

/** Loads a page of a list. A filter that is none, or a `before`, is a fault of the page (contract 12.140). */
export async function loadBookList<T extends { next: string | null }>(
  args: LoaderFunctionArgs,
  read: (procedures: Procedures, asked: Asked) => Promise<T>,
) {
  const { transport, visit } = args.context;
  const query = transport.readQuery(args.request);
  const [state, before] = [query.get('state') ?? '', query.get('before') ?? ''];
  const loaded = await loadForStaff(args, async (procedures) => {
    try {
      return { list: await read(procedures, { state, ...(before && { before }) }) };
    } catch (error) {
      if (transport.readRefusal(error, visit).code !== 'validation_failed') throw error;
      return { list: null };
    }
  });
  return { ...loaded, state, isFirst: before === '' };
}

type BookListProps = {
  path: '/admin/contracts' | '/admin/invoices';
  title: 'Contracts' | 'Invoices';
  who: Who;
  state: string;
  states: [value: string, words: string][];
  isFirst: boolean;
  next: string | null | undefined;
  /** The rows. */
  children: ReactNode[] | undefined;
};

/** A list of billing, the newest first, with its filter. Without rows there was nothing to list. */
export function BookList({ path, title, who, state, states, isFirst, next, children }: BookListProps) {
  const things = title.toLowerCase();
  return (
    <StaffPage title={title} who={who} current="/admin/billing" part={path}>
      <Filters path={path} asked={{ state }}>
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
        <Pages {...{ path, next, isFirst }} asked={{ state }} of={`the ${things}`} />
      </section>
    </StaffPage>
  );
}

/** Whose it is: a link to their page, if there is an id, unless they are erased. */
export function Owner({ email, userId = null }: { email: string | null; userId?: string | null }) {
  if (email === null) return <>of somebody who was erased</>;
  const name = <Name>{email}</Name>;
  return userId === null ? name : <a href={personPath(userId)}>{name}</a>;
}
