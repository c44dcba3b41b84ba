// The invoices and credit notes of a customer.
import { Badge } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Section } from '../section.tsx';
import { InvoiceState } from './invoices.tsx';
import type { OwnBilling } from './own-contracts.tsx';

type Document = OwnBilling['documents'][number];

type Props = { documents: Document[]; next: string | null; isFirst: boolean };

export function OwnDocuments({ documents, next, isFirst }: Props) {
  return (
    <Section id="documents" title="Invoices and credit notes">
      {documents.length === 0 && <p>There is nothing earlier.</p>}
      <ul className="rows documents">
        {documents.map((document) => (
          <DocumentRow key={document.number} {...document} />
        ))}
      </ul>
      {(next || !isFirst) && (
        <nav className="actions" aria-label="Pages of invoices and credit notes">
          {next && (
            <a className="button quiet" href={`/profile/billing?before=${next}#documents`}>
              Older
            </a>
          )}
          {!isFirst && <a href="/profile/billing#documents">Back to newest</a>}
        </nav>
      )}
    </Section>
  );
}

const nameOf = ({ kind, number }: Pick<Document, 'kind' | 'number'>) =>
  `${kind === 'invoice' ? 'Invoice' : 'Credit note'} ${number}`;

function DocumentRow(document: Document) {
  const { number, title, issuedOn, corrects, amount, open, status, isOverdue, hasDocument, hasXml } =
    document;
  const name = nameOf(document);
  return (
    <li className="row" data-document={number}>
      <div className="row-body">
        <div className="row-text">
          <a className="alone" href={`/invoices/${number}`}>
            {name}
          </a>
          <p className="hint">
            <bdi>{title}</bdi>, <Day at={issuedOn} />
            {corrects && `, corrects invoice ${corrects}`}
          </p>
        </div>
        <div className="row-end">
          <Money {...amount} />
          {status ? (
            <InvoiceState status={status} isOverdue={isOverdue} />
          ) : (
            <Badge meaning="neutral">Credit</Badge>
          )}
          {open && (
            <span className={open.unitAmount > 0 ? 'hint' : 'visually-hidden'} data-open={open.unitAmount}>
              <Money {...open} /> to pay
            </span>
          )}
        </div>
        {hasDocument && (
          <div className="row-more">
            <Files number={number} name={name} hasXml={hasXml} />
          </div>
        )}
      </div>
    </li>
  );
}

/** Where the document is kept as files. */
export const Files = ({ number, name, hasXml }: { number: string; name: string; hasXml: boolean }) => (
  <div className="files">
    <a className="alone" href={`/invoices/${number}.pdf`}>
      PDF<span className="visually-hidden">: {name}</span>
    </a>
    {hasXml && (
      <a className="alone" href={`/invoices/${number}.xml`}>
        XML<span className="visually-hidden">: {name}</span>
      </a>
    )}
  </div>
);
