import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { InvoiceState } from '../components/account/invoices.tsx';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Row } from '../components/rows.tsx';
import { titled } from '../components/service-name.ts';
import { BookList, Owner } from '../components/staff/book-list.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('Invoices');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(args, ['state'], (procedures, asked) => procedures.admin.billing.invoices(asked));

const states: [string, string][] = [
  ['open', 'Unpaid'],
  ['overdue', 'Overdue'],
  ['paid', 'Paid'],
  ['void', 'Void'],
];

export default function Invoices() {
  const { who, list, asked, isFirst } = useLoaderData<typeof loader>();
  return (
    <BookList path="/admin/invoices" title="Invoices" {...{ who, asked, states, isFirst, next: list?.next }}>
      {list?.invoices.map(({ number, status, overdue, total, open, ...invoice }) => (
        <Row
          key={number}
          href={`/admin/invoices/${number}`}
          title={`Invoice ${number}`}
          about={
            <>
              <Owner email={invoice.email} userId={invoice.user_id} />,{' '}
              <Day at={new Date(invoice.issued_at)} />
              {open > 0 && (
                <>
                  , due&nbsp;
                  <Day at={new Date(invoice.due_on)} />
                </>
              )}
            </>
          }
          end={
            <>
              <span>
                {open > 0 && open < total && (
                  <>
                    <Money {...invoice} unitAmount={open} /> open of{' '}
                  </>
                )}
                <Money {...invoice} unitAmount={total} />
              </span>
              <InvoiceState status={status} isOverdue={overdue} />
            </>
          }
        />
      ))}
    </BookList>
  );
}
