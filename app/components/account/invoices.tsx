import { Badge, type Meaning } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { type Amount, Money } from '../money.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Invoice = Amount & {
  number: string;
  plan: string;
  status: 'open' | 'paid' | 'void';
  issuedAt: Date;
  dueAt: Date;
};

const states: Record<Invoice['status'], [words: string, meaning: Meaning]> = {
  open: ['Unpaid', 'waiting'],
  paid: ['Paid', 'good'],
  void: ['Void', 'neutral'],
};

export function InvoiceState({ status, isOverdue }: { status: Invoice['status']; isOverdue: boolean }) {
  const [words, meaning] = states[status];
  return <Badge meaning={isOverdue ? 'needs-you' : meaning}>{isOverdue ? 'Overdue' : words}</Badge>;
}

/** `isOwn`: to whoever has them. Otherwise to staff. `opens`: whether whoever looks at them can open them. */
export function Invoices({
  invoices,
  opens = true,
  isOwn = true,
}: {
  invoices: (Invoice & { isOverdue: boolean })[];
  opens?: boolean;
  isOwn?: boolean;
}) {
  return (
    <Section id="invoices" title="Invoices">
      <Rows>
        {invoices.map(({ number, plan, status, issuedAt, dueAt, isOverdue, ...amount }) => (
          <Row
            key={number}
            href={opens ? `${isOwn ? '' : '/admin'}/invoices/${number}` : undefined}
            title={`Invoice ${number}`}
            about={
              <>
                <span className="plan">{plan}</span>, <Day at={issuedAt} />
                {status === 'open' && (
                  <>
                    , due&nbsp;
                    <Day at={dueAt} />
                  </>
                )}
              </>
            }
            end={
              <>
                <Money {...amount} />
                <InvoiceState status={status} isOverdue={isOverdue} />
              </>
            }
          />
        ))}
      </Rows>
    </Section>
  );
}
