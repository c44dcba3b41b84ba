// An invoice that was issued before there was a seller.
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Notice } from '../notice.tsx';
import { type OwnInvoice, Settled } from './document-sheet.tsx';
import { InvoiceState } from './invoices.tsx';

type Props = {
  invoice: Pick<
    OwnInvoice,
    | ('number' | 'buyerName' | 'buyerEmail' | 'plan' | 'periodStartsAt' | 'periodEndsAt')
    | ('currency' | 'unitAmount' | 'minorDigits' | 'credited' | 'allocated' | 'open')
    | ('issuedAt' | 'dueAt' | 'paidAt' | 'status' | 'isOverdue')
  >;
};

export function OldInvoice({ invoice }: Props) {
  return (
    <>
      <Notice kind="info">Not a tax invoice</Notice>
      <div className="card sheet" data-document={invoice.number}>
        <dl className="facts">
          <dt>Billed to</dt>
          <dd>
            <bdi>{invoice.buyerName}</bdi>, {invoice.buyerEmail}
          </dd>
          <dt>Date</dt>
          <dd>
            <Day at={invoice.issuedAt} />
          </dd>
          <dt>Status</dt>
          <dd>
            <InvoiceState {...invoice} />
            {invoice.paidAt && (
              <>
                {' on '}
                <Day at={invoice.paidAt} />
              </>
            )}
            {invoice.status === 'open' && (
              <>
                {' due '}
                <Day at={invoice.dueAt} />
              </>
            )}
          </dd>
        </dl>
        <table>
          <thead>
            <tr>
              <th scope="col">Service</th>
              <th scope="col">Amount</th>
            </tr>
          </thead>
          <tbody>
            <tr>
              <td>
                <span className="plan">{invoice.plan}</span>
                <p className="hint">
                  <Day at={invoice.periodStartsAt} /> to <Day at={invoice.periodEndsAt} />
                </p>
              </td>
              <td>
                <Money {...invoice} />
              </td>
            </tr>
          </tbody>
          <tfoot>
            <tr>
              <th scope="row">Total</th>
              <td>
                <Money {...invoice} />
              </td>
            </tr>
            <Settled {...invoice} />
          </tfoot>
        </table>
      </div>
    </>
  );
}
