import type { ReactNode } from 'react';
import type { Procedures } from '../../../server/doors/trpc/router.ts';
import type { Refused } from '../../refused.ts';
import { Disclosure } from '../disclosure.tsx';
import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';
import { Notice } from '../notice.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { ContractState, LastDay, sayEnd } from './contracts.tsx';
import { Outcome } from './outcome.tsx';

export type OwnBilling = NonNullable<Awaited<ReturnType<Procedures['billingPages']['describe']>>>;
type Contract = OwnBilling['contracts'][number];
type Next = NonNullable<Contract['next']>;
type Told = { saved: string | null; refused: Refused | undefined };

/** Shows a card for each contract that has not ended, and one card for all ended contracts (contract 7.469). */
export function OwnContracts({ contracts, ...told }: { contracts: Contract[] } & Told) {
  const running = contracts.filter(({ isRunning }) => isRunning);
  const ended = contracts.filter(({ isRunning }) => !isRunning);
  const groups = [...running.map((contract) => [contract]), ended].filter(({ length }) => length > 0);
  return (
    <Section id="contracts" title="Service contracts" bare>
      <ContractOutcome {...told} />
      {groups.map((group) => (
        <div key={group[0]?.id} className="card">
          <Rows>
            {group.map((contract) => (
              <Row
                key={contract.id}
                title={<Title {...contract} />}
                about={<About {...contract} />}
                end={<ContractState {...contract} />}
              >
                {contract.goOn?.link && <GoOn contract={contract} href={contract.goOn.link} />}
                {contract.canCancel && <Cancel contract={contract} refused={told.refused} />}
                {contract.canKeep && <Keep contract={contract} />}
              </Row>
            ))}
          </Rows>
        </div>
      ))}
    </Section>
  );
}

export function ContractOutcome({ saved, refused }: Told) {
  const told = { saved, refused };
  return (
    <>
      <Outcome intent="cancel" {...told}>
        You have canceled the contract. We have sent you an email about it.
      </Outcome>
      <Outcome intent="keep-contract" {...told}>
        Your contract goes on. We have sent you an email about it.
      </Outcome>
      {refused?.errors.contract && (
        <Notice kind="error" focus>
          {refused.errors.contract}
        </Notice>
      )}
    </>
  );
}

const Title = ({ title, plan }: Pick<Contract, 'title' | 'plan'>) =>
  title === null ? <span className="plan">{plan}</span> : <bdi>{title}</bdi>;

function About(contract: Contract) {
  const { description, status, lastDay, price, isBeforeTax, goOn, next } = contract;
  const lines: ReactNode[] = [];
  if (description) lines.push(<bdi>{description}</bdi>);
  const cost = price && (
    <>
      <Money {...price} /> a {price.interval}
      {price.quantity > 1 && (
        <>
          {' '}
          ({price.quantity} × <Money {...price.each} />)
        </>
      )}
    </>
  );
  const end = sayEnd(contract);
  if (status === 'trialing' && lastDay)
    lines.push(
      <>
        Your trial ends by itself on <LastDay on={lastDay} />. Nothing is charged after that.
      </>,
      cost && (
        <>
          If you go on, it costs {cost}
          {isBeforeTax && ' before tax'}.
        </>
      ),
    );
  else if (status === 'active' || status === 'past_due') lines.push(cost ?? 'No price set');
  if (end) lines.push(end);
  if (goOn && !goOn.link)
    lines.push(
      <>
        To go on after the trial, ask <bdi>{goOn.name}</bdi>: <bdi>{goOn.email}</bdi>.
      </>,
    );
  if (next) lines.push(<NextCharge next={next} isBeforeTax={isBeforeTax} />);
  return lines.filter(Boolean).map((line, at) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the lines never change places
    <span key={at} className="line">
      {line}
    </span>
  ));
}

function NextCharge({ next, isBeforeTax }: { next: Next; isBeforeTax: boolean }) {
  if (next.state === 'held')
    return 'Your next invoice is being prepared. We cannot say its date and amount yet.';
  if (next.state === 'after_payment')
    return (
      <>
        You get the next invoice once the overdue one is paid.
        {next.periods > 0 && (
          <>
            {' '}
            <WaitingPeriods count={next.periods} sums={next.sums} isBeforeTax={isBeforeTax} />
          </>
        )}
      </>
    );
  const { on, total, taxRate } = next;
  return (
    <>
      Next invoice on <Day at={on} />: <Money {...total} />
      {taxRate !== null && ` with ${taxRate / 100}% VAT`}
    </>
  );
}

type Waiting = { count: number; sums: Amount[]; isBeforeTax: boolean };

/**
 * Lists periods that began while a contract was past due, and that are not invoiced yet because the settings say so (contract
 * 7.478).
 */
export const WaitingPeriods = ({ count, sums, isBeforeTax }: Waiting) => (
  <>
    {count === 1 ? '1 period waits: ' : `${count} periods wait: `}
    {sums.map((sum, at) => (
      <span key={sum.currency}>
        {at > 0 && ' and '}
        <Money {...sum} />
      </span>
    ))}
    {isBeforeTax && ' before tax'}.
  </>
);

// The words of the buttons that cancel a contract and that keep it. If a page asks for a credential before the act, that page
// shows the same words.
export const cancelWords = 'Cancel the contract';
export const keepWords = 'Keep the contract';

function Cancel({ contract, refused }: { contract: Contract; refused: Refused | undefined }) {
  const { id, status, wouldEndOn } = contract;
  const isMine = refused?.values.intent === 'cancel' && refused.values.contract === id;
  return (
    <Disclosure
      label={
        <>
          Cancel
          <span className="visually-hidden">
            : <Title {...contract} />
          </span>
        </>
      }
      open={isMine}
    >
      <form method="post" action="/profile/billing" data-intent="cancel">
        <div data-notice>
          {wouldEndOn === null ? (
            <p>
              {status === 'trialing' ? 'Your trial' : 'The contract'} ends at once, and you lose access to it.
              You cannot undo this.
            </p>
          ) : (
            <>
              <p>
                The contract goes on until{' '}
                <strong>
                  <LastDay on={wouldEndOn} />
                </strong>
                , its last day. You can change your mind until then.
              </p>
              <p>Nothing is charged after that. Invoices that are open still have to be paid.</p>
            </>
          )}
        </div>
        <input type="hidden" name="contract" value={id} />
        <button type="submit" name="intent" value="cancel" className="danger">
          {cancelWords}
        </button>
      </form>
    </Disclosure>
  );
}

const GoOn = ({ contract, href }: { contract: Contract; href: string }) => (
  <a className="button" href={href} rel="noreferrer">
    <span>
      Go on with <Title {...contract} />
    </span>
  </a>
);

const Keep = ({ contract }: { contract: Contract }) => (
  <form method="post" action="/profile/billing" data-intent="keep-contract">
    <input type="hidden" name="contract" value={contract.id} />
    <button type="submit" name="intent" value="keep-contract" className="secondary">
      {keepWords}
      <span className="visually-hidden">
        : <Title {...contract} />
      </span>
    </button>
  </form>
);
