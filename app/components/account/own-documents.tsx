import { Badge } from '../badge.tsx';
import { Day } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Section } from '../section.tsx';
import { type DocumentsPath, nameOf } from './document-sheet.tsx';
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
            <bdi className="plan">{title}</bdi>, <Day at={issuedOn} />
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
              <Money {...open} /> {open.unitAmount > 0 ? 'to pay' : 'left to pay'}
            </span>
          )}
        </div>
        {hasDocument && (
          <div className="row-more">
            <Files path="/invoices" number={number} name={name} hasXml={hasXml} />
          </div>
        )}
      </div>
    </li>
  );
}

type FilesProps = { path: DocumentsPath; number: string; name: string; hasXml: boolean };

export const Files = ({ path, number, name, hasXml }: FilesProps) => (
  <div className="files">
    <a className="alone" href={`${path}/${number}.pdf`}>
      PDF<span className="visually-hidden">: {name}</span>
    </a>
    {hasXml && (
      <a className="alone" href={`${path}/${number}.xml`}>
        XML<span className="visually-hidden">: {name}</span>
      </a>
    )}
  </div>
);
