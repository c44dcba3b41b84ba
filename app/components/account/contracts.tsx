import { Badge, type Meaning } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Contract = {
  id: string;
  /** The CRM's id for it, for staff only. */
  signupId?: string;
  plan: string;
  status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'expired';
  trialEndsAt: Date | null;
  price: (Amount & { interval: 'month' | 'year' }) | null;
};

const states: Record<Contract['status'], [words: string, meaning: Meaning]> = {
  trialing: ['Free trial', 'waiting'],
  active: ['Active', 'good'],
  past_due: ['Payment overdue', 'needs-you'],
  canceled: ['Canceled', 'neutral'],
  expired: ['Trial ended', 'neutral'],
};

export function ContractState({ status }: Pick<Contract, 'status'>) {
  const [words, meaning] = states[status];
  return <Badge meaning={meaning}>{words}</Badge>;
}

/** `isOwn`: shown to the customer, not to staff. `previews`: the reader may see what will be invoiced. */
export function Contracts({
  contracts,
  isOwn = true,
  previews = false,
}: {
  contracts: Contract[];
  isOwn?: boolean;
  previews?: boolean;
}) {
  return (
    <Section id="contracts" title="Service contracts">
      <Rows>
        {contracts.map((contract) => (
          <Row
            key={contract.id}
            title={<span className="plan">{contract.plan}</span>}
            about={
              <>
                <About {...contract} isOwn={isOwn} />
                {previews && contract.signupId && (
                  <>
                    <br />
                    <a href={`/admin/billing/preview?signup=${encodeURIComponent(contract.signupId)}`}>
                      What will be invoiced
                    </a>
                  </>
                )}
              </>
            }
            end={<ContractState status={contract.status} />}
          />
        ))}
      </Rows>
    </Section>
  );
}

function About({ status, trialEndsAt, price, isOwn }: Contract & { isOwn: boolean }) {
  const cost = price && (
    <>
      <Money {...price} /> a {price.interval}
    </>
  );
  if (status === 'trialing' && trialEndsAt) {
    return (
      <>
        Free until <Day at={trialEndsAt} />
        {cost && (
          <>
            , then {cost} if {isOwn ? 'you' : 'they'} continue
          </>
        )}
      </>
    );
  }
  if (status === 'expired' && trialEndsAt) {
    return (
      <>
        {isOwn ? 'Your trial' : 'The trial'} ended on <Day at={trialEndsAt} />
      </>
    );
  }
  if (status === 'canceled') return 'This contract has been canceled.';
  return (
    <>
      {cost ?? 'No price set'}
      {status === 'past_due' && <>. An invoice below is overdue.</>}
    </>
  );
}
