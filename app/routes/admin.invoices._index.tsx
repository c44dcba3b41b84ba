import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { InvoiceState } from '../components/account/invoices.tsx';
import { ShortDay } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { titled } from '../components/service-name.ts';
import { BookList, Owner } from '../components/staff/book-list.tsx';
import type { Column } from '../components/table.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('Invoices');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(args, ['q', 'state', 'sort'], (procedures, asked) => procedures.admin.billing.invoices(asked));

const states: [string, string][] = [
  ['open', 'Unpaid'],
  ['overdue', 'Overdue'],
  ['paid', 'Paid'],
  ['void', 'Void'],
];

const columnsOf = (state: string): Column[] => [
  { label: 'Number' },
  { label: 'Customer' },
  { label: 'Issued', sort: 'issued' },
  // The database has an index by due day only for unpaid invoices. So only a list of unpaid invoices can be sorted by that day.
  { label: 'Due', ...((state === 'open' || state === 'overdue') && { sort: 'due' }) },
  { label: 'Amount', kind: 'amount' },
  { label: 'State', kind: 'state' },
];

export default function Invoices() {
  const { list, ...loaded } = useLoaderData<typeof loader>();
  const rows = list?.invoices.map(({ number, status, overdue, total, open, ...invoice }) => ({
    key: number,
    data: { 'data-document': number },
    cells: [
      <a key="number" href={`/admin/invoices/${number}`}>
        {number}
      </a>,
      <Owner key="owner" email={invoice.email} userId={invoice.user_id} />,
      <ShortDay key="issued" at={new Date(invoice.issued_at)} />,
      open > 0 ? <ShortDay key="due" at={new Date(invoice.due_on)} /> : null,
      <>
        <Money {...invoice} unitAmount={total} />
        {open > 0 && open < total && (
          <span className="hint">
            <Money {...invoice} unitAmount={open} /> open
          </span>
        )}
      </>,
      <InvoiceState key="state" status={status} isOverdue={overdue} />,
    ],
  }));
  return (
    <BookList
      name="invoices"
      numbers="An invoice’s, credit note’s or signup’s number"
      firstSort="-issued"
      {...{ ...loaded, list, states, columns: columnsOf(loaded.asked.state), rows: rows ?? [] }}
    />
  );
}
