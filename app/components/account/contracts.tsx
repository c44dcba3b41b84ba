import type { ReactNode } from 'react';
import { Badge, type Meaning } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Contract = {
  id: string;
  plan: string;
  status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'expired';
  /** A day such as 2026-12-26. Null unless the contract is a trial, was canceled or has ended. */
  lastDay: string | null;
  price: (Amount & { interval: 'month' | 'year' }) | null;
};

const states: Record<Contract['status'], [words: string, meaning: Meaning]> = {
  trialing: ['Free trial', 'waiting'],
  active: ['Active', 'good'],
  past_due: ['Payment overdue', 'needs-you'],
  canceled: ['Canceled', 'neutral'],
  expired: ['Trial ended', 'neutral'],
};

const shortDay = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });

export function ContractState({ status, lastDay }: Pick<Contract, 'status' | 'lastDay'>) {
  const [words, meaning] = states[status];
  const ends = lastDay !== null && (status === 'active' || status === 'past_due');
  return (
    <>
      {!(ends && status === 'active') && <Badge meaning={meaning}>{words}</Badge>}
      {ends && <Badge meaning="waiting">Ends {shortDay.format(new Date(lastDay))}</Badge>}
    </>
  );
}

/** `isOwn` is true for the customer, and false for staff. `more` returns what is shown below a contract. */
export function Contracts<Shown extends Contract>({
  contracts,
  isOwn = true,
  more,
}: {
  contracts: Shown[];
  isOwn?: boolean;
  more?: ((contract: Shown) => ReactNode) | undefined;
}) {
  return (
    <Section id="contracts" title="Service contracts">
      <Rows>
        {contracts.map((contract) => (
          <Row
            key={contract.id}
            title={<span className="plan">{contract.plan}</span>}
            about={<About {...contract} isOwn={isOwn} />}
            end={<ContractState {...contract} />}
          >
            {more?.(contract)}
          </Row>
        ))}
      </Rows>
    </Section>
  );
}

function About({ status, lastDay, price, isOwn }: Contract & { isOwn: boolean }) {
  const cost = price && (
    <>
      <Money {...price} /> a {price.interval}
    </>
  );
  if (status === 'trialing' && lastDay) {
    return (
      <>
        Free until <LastDay on={lastDay} />
        {cost && (
          <>
            , then {cost} if {isOwn ? 'you' : 'they'} continue
          </>
        )}
      </>
    );
  }
  const end = sayEnd({ status, lastDay, isOwn });
  if (hasEnded(status)) return end;
  return (
    <>
      {cost ?? 'No price set'}
      {status === 'past_due' && <>. An invoice is overdue.</>}
      {end && <span className="line">{end}</span>}
    </>
  );
}

export const LastDay = ({ on }: { on: string }) => <Day at={new Date(on)} />;

type End = Pick<Contract, 'status' | 'lastDay'>;

const hasEnded = (status: Contract['status']) => status === 'canceled' || status === 'expired';

/** Says how a contract ends or has ended. Null if it goes on or is a trial. */
export function sayEnd({ status, lastDay, isOwn = true }: End & { isOwn?: boolean }): ReactNode {
  const on = lastDay && <LastDay on={lastDay} />;
  if (status === 'expired')
    return on ? (
      <>
        {isOwn ? 'Your trial' : 'The trial'} ended on {on}
      </>
    ) : (
      'The trial has ended.'
    );
  if (status === 'canceled') return on ? <>Ended on {on}</> : 'This contract has been canceled.';
  if (status === 'trialing' || !on) return null;
  return <strong>The last day is {on}. Nothing is charged after that.</strong>;
}
