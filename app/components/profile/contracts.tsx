import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';

type Contract = {
  id: string;
  plan: string;
  status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'expired';
  trialEndsAt: Date | null;
  price: (Amount & { interval: 'month' | 'year' }) | null;
};

const states = {
  trialing: 'Free trial',
  active: 'Active',
  past_due: 'Payment overdue',
  canceled: 'Cancelled',
  expired: 'Trial ended',
};

export function Contracts({ contracts }: { contracts: Contract[] }) {
  return (
    <section aria-labelledby="contracts">
      <h2 id="contracts">Service contracts</h2>
      <div className="card">
        <ul className="rows">
          {contracts.map((contract) => (
            <li key={contract.id}>
              <div>
                <strong className="plan">{contract.plan}</strong>
                <p className="hint">
                  <About {...contract} />
                </p>
              </div>
              <span className={contract.status === 'active' ? 'tag on' : 'tag'}>
                {states[contract.status]}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </section>
  );
}

function About({ status, trialEndsAt, price }: Contract) {
  const cost = price && (
    <>
      <Money {...price} /> a {price.interval}
    </>
  );
  if (status === 'trialing' && trialEndsAt) {
    return (
      <>
        Free until <Day at={trialEndsAt} />
        {cost && <>, then {cost} if you continue</>}
      </>
    );
  }
  if (status === 'expired' && trialEndsAt) {
    return (
      <>
        Your trial ended on <Day at={trialEndsAt} />
      </>
    );
  }
  if (status === 'canceled') return 'This contract has been cancelled.';
  return (
    <>
      {cost ?? 'No price set'}
      {status === 'past_due' && <>. An invoice below is overdue.</>}
    </>
  );
}
