import type { ReactNode } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { Money } from '../money.tsx';

type Summary = Awaited<ReturnType<Procedures['admin']['billing']['summary']>>;

export const Figures = ({ heads, children }: { heads: string[]; children: ReactNode }) => (
  <table className="figures">
    <thead>
      <tr>
        {heads.map((head) => (
          <th key={head} scope="col">
            {head}
          </th>
        ))}
      </tr>
    </thead>
    {children}
  </table>
);

export function RecurringTable({ recurring }: Pick<Summary, 'recurring'>) {
  return (
    <Figures heads={['Plan', 'Contracts', 'In a month']}>
      <tbody>
        {recurring.map(({ plan, currency, count, yearly, amount, minorDigits }) => (
          <tr key={`${plan} ${currency}`}>
            <th scope="row">
              <span className="plan">{plan}</span>
            </th>
            <td>
              {count}
              {yearly > 0 && <span className="hint">{yearly} by the year</span>}
            </td>
            <td data-recurring={currency ? amount : undefined}>
              {currency ? <Money {...{ currency, minorDigits, unitAmount: amount }} /> : 'No price'}
            </td>
          </tr>
        ))}
      </tbody>
    </Figures>
  );
}

const month = new Intl.DateTimeFormat('en-GB', { month: 'long', year: 'numeric', timeZone: 'UTC' });

export const sayMonth = (text: string) => month.format(new Date(`${text}-01T00:00:00Z`));

const categories: Record<string, string> = { AE: 'Reverse charge', E: 'Exempt', O: 'Not subject to tax' };

export const sayRate = (category: string, rate: number) => categories[category] ?? `${rate / 100} %`;

export function IncomeTable({ rows }: { rows: Summary['income']['rows'] }) {
  const months = [...new Set(rows.map((row) => row.month))];
  return (
    <Figures heads={['Country and rate', 'Net', 'Tax']}>
      {months.map((each) => (
        <tbody key={each} data-month={each}>
          <tr>
            <th scope="rowgroup" colSpan={3} className="figures-part">
              {sayMonth(each)}
            </th>
          </tr>
          {rows
            .filter((row) => row.month === each)
            .map(({ currency, country, countryName, category, rate, net, tax, minorDigits }) => (
              <tr key={`${currency} ${country} ${category} ${rate}`}>
                <th scope="row">
                  {countryName && <>{countryName}: </>}
                  {sayRate(category, rate)}
                </th>
                <td>
                  <Money {...{ currency, minorDigits, unitAmount: net }} />
                </td>
                <td>
                  <Money {...{ currency, minorDigits, unitAmount: tax }} />
                </td>
              </tr>
            ))}
        </tbody>
      ))}
    </Figures>
  );
}
