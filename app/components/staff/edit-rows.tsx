type Fields = Record<string, string>;

type Column = {
  /** Each row's field has a hyphen and the number of the row after it. */
  name: string;
  label: string;
  isDay?: true;
  inputMode?: 'numeric' | 'decimal';
  /** The words for each value. */
  options?: Record<string, string>;
};

type EditRowsProps = {
  id: string;
  caption: string;
  /** What a row is, in one word. */
  row: string;
  hint: string;
  /** What is wrong with the table as a whole. */
  error: string | undefined;
  columns: Column[];
  values: Fields;
  errors: Fields;
};

const emptyRows = 3;
const mostRows = 200;

/** A table to edit, with empty rows at its end: it needs no script. On a phone each row is a block. */
export function EditRows({ id, caption, row, hint, error, columns, values, errors }: EditRowsProps) {
  const filled = Object.entries(values).flatMap(([field, value]) => {
    const [name, number] = field.split('-');
    return number !== undefined && value !== '' && columns.some((each) => each.name === name)
      ? [Number(number)]
      : [];
  });
  const count = Math.min(Math.max(0, ...filled) + emptyRows, mostRows + emptyRows);
  const described = [`${id}-hint`, error && `${id}-error`].filter(Boolean).join(' ');
  return (
    <div className="field">
      <p className="hint" id={`${id}-hint`}>
        {hint}
      </p>
      {error && (
        <p className="error" id={`${id}-error`} role="alert">
          {error}
        </p>
      )}
      <table className="edit-rows" id={id} aria-describedby={described}>
        <caption className="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, label }) => (
              <th key={name} scope="col">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {Array.from({ length: count }, (_, at) => at + 1).map((number) => (
            <Cells key={number} number={number} row={row} columns={columns} values={values} errors={errors} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** A row, and below it what is wrong with it: the cells are too narrow for words. */
function Cells({
  number,
  row,
  columns,
  values,
  errors,
}: Pick<EditRowsProps, 'row' | 'columns' | 'values' | 'errors'> & { number: number }) {
  const wrong = columns.filter(({ name }) => errors[`${name}-${number}`]);
  return (
    <>
      <tr>
        {columns.map((column) => {
          const field = `${column.name}-${number}`;
          return (
            <td key={field}>
              <Cell
                column={column}
                about={`${row} ${number}`}
                field={field}
                value={values[field] ?? ''}
                isWrong={wrong.includes(column)}
              />
            </td>
          );
        })}
      </tr>
      {wrong.length > 0 && (
        <tr className="row-errors">
          <td colSpan={columns.length}>
            {wrong.map(({ name, label }) => (
              <p key={name} className="error" id={`${name}-${number}-error`} role="alert">
                {label}: {errors[`${name}-${number}`]}
              </p>
            ))}
          </td>
        </tr>
      )}
    </>
  );
}

function Cell({
  column: { label, isDay, inputMode, options },
  about,
  field,
  value,
  isWrong,
}: {
  column: Column;
  about: string;
  field: string;
  value: string;
  isWrong: boolean;
}) {
  const common = {
    id: field,
    name: field,
    defaultValue: value,
    'aria-invalid': isWrong ? true : undefined,
    'aria-describedby': isWrong ? `${field}-error` : undefined,
  } as const;
  return (
    <>
      <label htmlFor={field}>
        {label}
        <span className="visually-hidden">, {about}</span>
      </label>
      {options ? (
        <select {...common}>
          {Object.entries(options).map(([each, words]) => (
            <option key={each} value={each}>
              {words}
            </option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          type={isDay ? 'date' : undefined}
          inputMode={inputMode}
          dir={isDay ? undefined : 'auto'}
          autoComplete="off"
        />
      )}
    </>
  );
}
