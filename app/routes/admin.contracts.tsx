import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { ContractState } from '../components/account/contracts.tsx';
import { ShortDay } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { titled } from '../components/service-name.ts';
import { BookList, Owner } from '../components/staff/book-list.tsx';
import { blockedWords } from '../components/staff/words.tsx';
import type { Column } from '../components/table.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('Contracts');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(args, ['q', 'state', 'sort'], (procedures, asked) => procedures.admin.billing.contracts(asked));

const states: [string, string][] = [
  ['trialing', 'Free trial'],
  ['active', 'Active'],
  ['past_due', 'Payment overdue'],
  ['held', 'Blocked'],
  ['vat-id', 'VAT ID to check'],
  ['canceled', 'Canceled'],
  ['expired', 'Trial ended'],
];

const columns: Column[] = [
  { label: 'Signup', sort: 'signup' },
  { label: 'Customer' },
  { label: 'Reported', sort: 'created' },
  { label: 'Last day' },
  { label: 'Price', kind: 'amount' },
  { label: 'State', kind: 'state' },
];

export default function Contracts() {
  const { list, ...loaded } = useLoaderData<typeof loader>();
  const rows = list?.contracts.map(({ id, plan, status, price, held, minorDigits, ...contract }) => ({
    key: id,
    data: { 'data-contract': id },
    cells: [
      <>
        <bdi>{contract.signup_id}</bdi>
        <span className="hint">
          <span className="plan">{plan}</span>
        </span>
      </>,
      <Owner key="owner" email={contract.email} userId={contract.user_id} />,
      <ShortDay key="since" at={new Date(contract.created_at)} />,
      contract.last_day && <ShortDay key="last" at={new Date(contract.last_day)} />,
      price && minorDigits !== null && (
        <>
          <Money currency={price.currency} unitAmount={price.unit_amount} minorDigits={minorDigits} />
          <span className="hint">
            {(price.quantity ?? 1) > 1 && `× ${price.quantity} `}a {price.interval}
          </span>
        </>
      ),
      <ContractState key="state" status={status} lastDay={contract.last_day} />,
    ],
    below: held && (
      <span data-held={held}>
        <strong>Blocked:</strong> {blockedWords[held] ?? held}
      </span>
    ),
  }));
  return (
    <BookList
      name="contracts"
      numbers="A signup id or an invoice’s number"
      firstSort="-created"
      {...{ ...loaded, list, states, columns, rows: rows ?? [] }}
    />
  );
}
