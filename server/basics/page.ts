const pageSize = 50;

/** If there is a next page, it begins after `last`. */
export async function readPage<Row>(read: (limit: number) => Promise<Row[]>) {
  const rows = await read(pageSize + 1);
  const page = rows.slice(0, pageSize);
  return { page, last: rows.length > pageSize ? page.at(-1) : undefined };
}
