const pageSize = 50;

/** The 50 rows of a page. One more is read: if there is one, the page after begins after `last`, which is undefined otherwise. */
export async function readPage<Row>(read: (limit: number) => Promise<Row[]>) {
  const rows = await read(pageSize + 1);
  const page = rows.slice(0, pageSize);
  return { page, last: rows.length > pageSize ? page.at(-1) : undefined };
}
