import type { LoaderFunctionArgs } from '@remix-run/node';
import { useLoaderData } from '@remix-run/react';
import { ContractState, LastDay } from '../components/account/contracts.tsx';
import { Money } from '../components/money.tsx';
import { Row } from '../components/rows.tsx';
import { titled } from '../components/service-name.ts';
import { BookList, Owner } from '../components/staff/book-list.tsx';
import { blockedWords, personPath } from '../components/staff/words.tsx';
import { loadList } from '../staff.ts';

export const meta = titled('Contracts');

export const loader = (args: LoaderFunctionArgs) =>
  loadList(args, ['state'], (procedures, asked) => procedures.admin.billing.contracts(asked));

const states: [string, string][] = [
  ['trialing', 'Free trial'],
  ['active', 'Active'],
  ['past_due', 'Payment overdue'],
  ['held', 'Blocked'],
  ['canceled', 'Canceled'],
  ['expired', 'Trial ended'],
];

const endWords = {
  trialing: 'free until',
  active: 'last day',
  past_due: 'last day',
  canceled: 'ended on',
  expired: 'trial ended on',
};

export default function Contracts() {
  const { who, list, asked, isFirst } = useLoaderData<typeof loader>();
  return (
    <BookList
      path="/admin/contracts"
      title="Contracts"
      {...{ who, asked, states, isFirst, next: list?.next }}
    >
      {list?.contracts.map(
        ({ id, plan, status, price, held, minorDigits, last_day: lastDay, ...contract }) => (
          <Row
            key={id}
            href={contract.user_id ? personPath(contract.user_id) : undefined}
            title={
              <>
                <span className="plan">{plan}</span>, <bdi>{contract.signup_id}</bdi>
              </>
            }
            about={
              <>
                <Owner email={contract.email} />
                {lastDay && (
                  <>
                    , {endWords[status]} <LastDay on={lastDay} />
                  </>
                )}
                {held && (
                  <span data-held={held}>
                    <br />
                    Blocked: {blockedWords[held] ?? held}
                  </span>
                )}
              </>
            }
            end={
              <>
                {price && minorDigits !== null && (
                  <span>
                    <Money
                      currency={price.currency}
                      unitAmount={price.unit_amount}
                      minorDigits={minorDigits}
                    />{' '}
                    a {price.interval}
                  </span>
                )}
                <ContractState status={status} lastDay={lastDay} />
              </>
            }
          />
        ),
      )}
    </BookList>
  );
}
