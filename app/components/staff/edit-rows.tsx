type Fields = Record<string, string>;

type Column = {
  /** The beginning of the names of fields. A hyphen and the number of the row follow. */
  name: string;
  label: string;
  isDay?: true;
  inputMode?: 'numeric' | 'decimal';
  /** The words that a choice shows for each value. */
  options?: Record<string, string>;
  /** Names that the browser suggests. */
  countries?: string[];
};

type EditRowsProps = {
  id: string;
  /** The button that adds a row has the intent `add-` and this name. */
  name: string;
  caption: string;
  /** The word for one row. */
  row: string;
  hint: string;
  /** An error of the table as a whole. */
  error: string | undefined;
  /** Set if the button that adds a row was pressed. */
  isAdded: boolean;
  columns: Column[];
  values: Fields;
  errors: Fields;
};

const mostRows = 200;

/** A table that people can edit. The button that adds a row sends the form, and the answer is the page with one more row. */
export function EditRows({
  id,
  name,
  caption,
  row,
  hint,
  error,
  isAdded,
  columns,
  values,
  errors,
}: EditRowsProps) {
  const numbers = Object.keys(values).flatMap((field) => {
    const [, column, number] = /^(\w+)-(\d{1,3})$/.exec(field) ?? [];
    return columns.some((each) => each.name === column) ? [Number(number)] : [];
  });
  // Empty rows are shown, too. Otherwise an added row would be gone after a refusal of the form.
  const count = Math.min(Math.max(1, Math.max(0, ...numbers) + (isAdded ? 1 : 0)), mostRows);
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
            <Cells
              key={number}
              {...{ number, row, columns, values, errors }}
              takesFocus={isAdded && number === count}
            />
          ))}
        </tbody>
      </table>
      {columns.map(
        (column) =>
          column.countries && (
            <datalist key={column.name} id={`${column.name}-list`}>
              {column.countries.map((each) => (
                <option key={each} value={each} />
              ))}
            </datalist>
          ),
      )}
      {count < mostRows && (
        <button type="submit" className="secondary" name="intent" value={`add-${name}`} formNoValidate>
          Add a {row}
        </button>
      )}
    </div>
  );
}

/** Errors are shown below the row, because the cells are too narrow for words. */
function Cells({
  number,
  row,
  columns,
  values,
  errors,
  takesFocus,
}: Pick<EditRowsProps, 'row' | 'columns' | 'values' | 'errors'> & { number: number; takesFocus: boolean }) {
  const wrong = columns.filter(({ name }) => errors[`${name}-${number}`]);
  return (
    <>
      <tr>
        {columns.map((column) => {
          const { name, label, isDay, inputMode, options, countries } = column;
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
                  // biome-ignore lint/a11y/noAutofocus: somebody who adds a row fills it in next
                  autoFocus={takesFocus && column === columns[0]}
                  list={countries && `${name}-list`}
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
