import type { ReactNode } from 'react';
import { Icon } from './icon.tsx';
import { whole } from './whole.ts';

export type Column = {
  label: string;
  /** The name of the column in `sort`, if the list can be sorted by it. */
  sort?: string;
  /** An amount is aligned to the end of its column. On a phone, a state is shown beside the title of its card. */
  kind?: 'amount' | 'state';
};

export type TableRow = {
  key: string;
  /** One cell for each column. The first cell is the title of the row. */
  cells: ReactNode[];
  below?: ReactNode;
  /** Details that open below the cells. `of` tells screen readers what they are about. */
  details?: { of: ReactNode; inside: ReactNode; isOpen: boolean };
  data?: Record<`data-${string}`, string>;
};

type TableProps = {
  /** table.css has the widths of the columns under this name. */
  name: 'people' | 'contracts' | 'invoices' | 'mails' | 'clients' | 'documents';
  caption: string;
  columns: Column[];
  rows: TableRow[];
  /** The name of a column. If a `-` comes before the name, the order is reversed. */
  sort?: string;
  sortPath?: (sort: string) => string;
};

// The style sheet lays tables out as grids, and on a phone as cards. Without these roles, some browsers would then not treat
// them as tables.
const [table, rowgroup, row, columnheader, rowheader, cell] = [
  'table',
  'rowgroup',
  'row',
  'columnheader',
  'rowheader',
  'cell',
].map((role) => ({ role }));

export function Table({ name, caption, columns, rows, sort, sortPath }: TableProps) {
  const hasDetails = rows.some(({ details }) => details);
  return (
    <table className={`table ${name}`} {...table}>
      <caption className="visually-hidden">{caption}</caption>
      <thead {...rowgroup}>
        <tr {...row}>
          {columns.map((column) => (
            <Heading key={column.label} column={column} sort={sort} sortPath={sortPath} />
          ))}
          {hasDetails && (
            <th scope="col" {...columnheader}>
              <span className="visually-hidden">Details</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody {...rowgroup}>
        {rows.map(({ key, cells, below, details, data }) => (
          <tr key={key} {...row} {...data}>
            {columns.map((column, at) => (
              <Cell key={column.label} column={column} isTitle={at === 0}>
                {cells[at]}
              </Cell>
            ))}
            {details && (
              <td className="details" {...cell}>
                <details open={details.isOpen}>
                  <summary>
                    Details<span className="visually-hidden">: {details.of}</span>
                  </summary>
                  {details.inside}
                </details>
              </td>
            )}
            {below && (
              <td className="below" {...cell}>
                {below}
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

type CellProps = { column: Column; isTitle: boolean; children: ReactNode };

/** On a phone, the label of an empty cell is not shown. */
function Cell({ column: { label, kind }, isTitle, children }: CellProps) {
  const content = children ? <div>{children}</div> : null;
  return isTitle ? (
    <th scope="row" {...rowheader}>
      {content}
    </th>
  ) : (
    <td data-label={label} className={kind} {...cell}>
      {content}
    </td>
  );
}

type HeadingProps = { column: Column } & Pick<TableProps, 'sort' | 'sortPath'>;

function Heading({ column: { label, kind, sort: name }, sort, sortPath }: HeadingProps) {
  const isDown = sort === `-${name}`;
  const isSorted = name !== undefined && (isDown || sort === name);
  return (
    <th
      scope="col"
      className={kind}
      aria-sort={isSorted ? (isDown ? 'descending' : 'ascending') : undefined}
      {...columnheader}
    >
      {name && sortPath ? (
        <a href={sortPath(isSorted && !isDown ? `-${name}` : name)}>
          {label}
          {isSorted && <Icon name="down" />}
        </a>
      ) : (
        label
      )}
    </th>
  );
}

/** Says how many things a list has, such as "128 invoices". `count` is null if there are more things than we count. */
export const sayCount = (count: number | null, one: string, many: string) =>
  count === null ? `More than ${whole(1_000)} ${many}` : `${whole(count)} ${count === 1 ? one : many}`;
