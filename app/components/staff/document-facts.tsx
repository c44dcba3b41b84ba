import type { DocumentFacts as Facts } from '../../../server/billing/document-facts.ts';
import { Money } from '../money.tsx';
import { Section } from '../section.tsx';

/** What a document says. */
export function DocumentFacts({ facts, minorDigits }: { facts: Facts; minorDigits: number }) {
  const { seller, buyer, line, currency, net, tax, total, rate, words } = facts;
  const show = (amount: number) => <Money {...{ currency, minorDigits, unitAmount: amount }} />;
  const { address } = buyer;
  return (
    <Section id="document" title="What the invoice says">
      <div data-document={facts.number}>
        <dl className="facts">
          <dt>Number</dt>
          <dd>{facts.number}</dd>
          <dt>Date</dt>
          <dd>{facts.issued_on}</dd>
          <dt>To be paid by</dt>
          <dd>{facts.due_on}</dd>
          <dt>From</dt>
          <dd>
            <bdi>{seller.name}</bdi>
          </dd>
          <dt>To</dt>
          <dd>
            <bdi>{buyer.name}</bdi>
            {address ? (
              [address.line1, address.line2, `${address.postcode} ${address.city}`, address.country]
                .filter((each) => each !== undefined)
                .map((each) => (
                  <div key={each}>
                    <bdi>{each}</bdi>
                  </div>
                ))
            ) : (
              <div>No address: the invoice is incomplete</div>
            )}
            {buyer.vat_id && <div>VAT id {buyer.vat_id}</div>}
          </dd>
          <dt>For</dt>
          <dd>
            <bdi>{line.title}</bdi>, {line.first_day} to {line.last_day}
          </dd>
          <dt>Before tax</dt>
          <dd>{show(net)}</dd>
          <dt>Tax{rate > 0 && `, ${rate / 100} %`}</dt>
          <dd>
            {show(tax)}
            {words && (
              <div>
                <bdi>{words}</bdi>
              </div>
            )}
          </dd>
          <dt>Total</dt>
          <dd>{show(total)}</dd>
        </dl>
      </div>
    </Section>
  );
}
