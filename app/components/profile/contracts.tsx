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
  trialing: 'On trial',
  active: 'Active',
  past_due: 'Payment overdue',
  canceled: 'Canceled',
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
        {cost && <>, then {cost} if you go on</>}
      </>
    );
  }
  if (status === 'expired' && trialEndsAt) {
    return (
      <>
        The trial ended on <Day at={trialEndsAt} />
      </>
    );
  }
  if (status === 'canceled') return 'This contract has ended.';
  return (
    <>
      {cost ?? 'Without a price'}
      {status === 'past_due' && <>. An invoice below waits for its payment.</>}
    </>
  );
}
