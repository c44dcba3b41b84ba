type Fields = Record<string, string>;

type Column = {
  /** The names of the column's fields are this name, a hyphen and the number of the row. */
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
  /** An error of the table as a whole. */
  error: string | undefined;
  columns: Column[];
  values: Fields;
  errors: Fields;
};

const emptyRows = 3;
const mostRows = 200;

/** A table to edit. It ends with empty rows, so it needs no script to add one. */
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

/** Errors stand below the row, because the cells are too narrow for words. */
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
          const { name, label, isDay, inputMode, options } = column;
          const field = `${name}-${number}`;
          const isWrong = wrong.includes(column);
          const common = {
            id: field,
            name: field,
            defaultValue: values[field] ?? '',
            'aria-invalid': isWrong ? true : undefined,
            'aria-describedby': isWrong ? `${field}-error` : undefined,
          } as const;
          return (
            <td key={field}>
              <label htmlFor={field}>
                {label}
                <span className="visually-hidden">, {`${row} ${number}`}</span>
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
