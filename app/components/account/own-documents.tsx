import { Badge } from '../badge.tsx';
import { ShortDay } from '../instant.tsx';
import { Money } from '../money.tsx';
import { Section } from '../section.tsx';
import { type Column, Table, type TableRow } from '../table.tsx';
import { type DocumentsPath, nameOf } from './document-sheet.tsx';
import { InvoiceState } from './invoices.tsx';
import type { OwnBilling } from './own-contracts.tsx';

type Document = OwnBilling['documents'][number];

type Props = Pick<OwnBilling, 'documents' | 'sort' | 'next'> & { isFirst: boolean };

const title = 'Invoices and credit notes';

const columns: Column[] = [
  { label: 'Document' },
  { label: 'Date', sort: 'issued' },
  { label: 'Amount', kind: 'amount' },
  { label: 'Status', kind: 'state' },
  { label: 'Files' },
];

/** The default order is newest first, so the path needs no `sort` for it. */
function pathOf(sort: string, before = ''): string {
  const query = new URLSearchParams([
    ...(sort === '-issued' ? [] : [['sort', sort]]),
    ...(before ? [['before', before]] : []),
  ]);
  return `/profile/billing${query.size > 0 ? '?' : ''}${query}#documents`;
}

export function OwnDocuments({ documents, sort, next, isFirst }: Props) {
  return (
    <Section id="documents" title={title}>
      {documents.length === 0 ? (
        <p>There is nothing more.</p>
      ) : (
        <Table
          name="documents"
          caption={title}
          columns={columns}
          rows={documents.map(toRow)}
          sort={sort}
          sortPath={pathOf}
        />
      )}
      {(next || !isFirst) && (
        <nav className="actions" aria-label="Pages of invoices and credit notes">
          {next && (
            <a className="button quiet" href={pathOf(sort, next)}>
              More
            </a>
          )}
          {!isFirst && <a href={pathOf(sort)}>Back to the first</a>}
        </nav>
      )}
    </Section>
  );
}

function toRow(document: Document): TableRow {
  const { number, issuedOn, amount, open, status, isOverdue, hasDocument, hasXml, corrects } = document;
  const name = nameOf(document);
  return {
    key: number,
    data: { 'data-document': number },
    cells: [
      <>
        {hasDocument ? <a href={`/invoices/${number}`}>{name}</a> : name}
        <span className="hint">
          <bdi className="plan">{document.title}</bdi>
          {corrects && `, corrects invoice ${corrects}`}
        </span>
      </>,
      <ShortDay key="date" at={issuedOn} />,
      <>
        <Money {...amount} />
        {open && (
          <span
            className={
              open.unitAmount > 0 && open.unitAmount < amount.unitAmount ? 'hint' : 'visually-hidden'
            }
            data-open={open.unitAmount}
          >
            <Money {...open} /> left to pay
          </span>
        )}
      </>,
      status ? (
        <InvoiceState key="status" status={status} isOverdue={isOverdue} />
      ) : (
        <Badge key="status" meaning="neutral">
          Credit
        </Badge>
      ),
      hasDocument && <Files key="files" path="/invoices" number={number} name={name} hasXml={hasXml} />,
    ],
  };
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
