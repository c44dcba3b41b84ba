const pageSize = 50;

/** Reads one page of rows. `last` is the row after which the next page begins. `last` is undefined if there is no next page. */
export async function readPage<Row>(read: (limit: number) => Promise<Row[]>) {
  const rows = await read(pageSize + 1);
  const page = rows.slice(0, pageSize);
  return { page, last: rows.length > pageSize ? page.at(-1) : undefined };
}

const mostCounted = 1_000;

type Page = { page: unknown[]; last: unknown; before: unknown };

/**
 * Counts the rows of a list. Returns null if the list has more rows than we count (contract 12.242). A list of a single page is
 * counted without a query.
 */
export async function readCount(
  { page, last, before }: Page,
  count: (limit: number) => Promise<number>,
): Promise<number | null> {
  if (last === undefined && before === undefined) return page.length;
  const found = await count(mostCounted + 1);
  return found > mostCounted ? null : found;
}
