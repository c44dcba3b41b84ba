import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';

type Invoice = Amount & {
  number: number;
  plan: string;
  status: 'open' | 'paid' | 'void';
  issuedAt: Date;
  dueAt: Date;
};

export const invoiceStates = { open: 'Unpaid', paid: 'Paid', void: 'Void' };

export function Invoices({ invoices }: { invoices: Invoice[] }) {
  return (
    <section aria-labelledby="invoices">
      <h2 id="invoices">Invoices</h2>
      <div className="card">
        <ul className="rows">
          {invoices.map(({ number, plan, status, issuedAt, dueAt, ...amount }) => (
            <li key={number}>
              <div>
                <a href={`/invoices/${number}`}>Invoice {number}</a>, <Money {...amount} />
                <p className="hint">
                  <span className="plan">{plan}</span>, <Day at={issuedAt} />
                  {status === 'open' && (
                    <>
                      , due <Day at={dueAt} />
                    </>
                  )}
                </p>
              </div>
              <span className={status === 'paid' ? 'tag on' : 'tag'}>{invoiceStates[status]}</span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}
