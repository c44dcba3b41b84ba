// Whether two PDFs that pdfkit wrote say the same, byte for byte once their streams are unpacked: Node and Deno pack the same
// bytes in different ways. Someone else's file may be anything, so nothing in it may be what is not compared.

/** False also for a file that pdfkit does not write so. */
export async function isSamePdf(one: Uint8Array, other: Uint8Array): Promise<boolean> {
  const [first, second] = [await unpack(one), await unpack(other)];
  return first !== undefined && first === second;
}

const maxUnpacked = 20_000_000;
const maxStreams = 5_000;

/** A PDF with its streams unpacked, and without the lengths and offsets that depend on how they were packed. */
async function unpack(pdf: Uint8Array): Promise<string | undefined> {
  // A character for each byte.
  const text = new TextDecoder('latin1').decode(pdf);
  // Where each object begins.
  const objects = new Map<number, number>();
  const parts: string[] = [];
  let [at, unpacked] = [0, 0];
  const take = (to: number) => {
    const part = text.slice(at, to);
    for (const { index, 1: id } of part.matchAll(/(?<=\n)(\d+) 0 obj\n/g))
      objects.set(Number(id), at + index);
    at = to;
    return part;
  };
  for (;;) {
    const begin = text.indexOf('\nstream\n', at);
    if (begin < 0) break;
    const head = take(begin + '\nstream\n'.length);
    const begins = head.lastIndexOf(' 0 obj\n');
    const dictionary = head.slice(begins);
    const [line = '', length] = /\n\/Length (\d+)\n/.exec(dictionary) ?? [];
    if (begins < 0 || length === undefined || parts.length > 3 * maxStreams) return undefined;
    const packed = pdf.slice(at, at + Number(length));
    at += packed.length;
    const isPacked = dictionary.includes('\n/Filter /FlateDecode\n');
    const stream = isPacked
      ? await inflate(packed, maxUnpacked - unpacked, new TextDecoder('latin1')).catch(() => undefined)
      : new TextDecoder('latin1').decode(packed);
    if (stream === undefined) return undefined;
    unpacked += stream.length;
    parts.push(head.slice(0, begins), isPacked ? dictionary.replace(line, '\n') : dictionary, stream);
  }
  const table = text.indexOf('\nxref\n', at) + 1;
  if (table === 0) return undefined;
  parts.push(take(table));
  // The offsets must be those of the objects that are compared, and lead nowhere else.
  let isRight = true;
  let id = 0;
  const offsets = text.slice(table).replace(/^(\d{10}) 00000 n $/gm, (_, offset) => {
    isRight &&= objects.get(++id) === Number(offset);
    return 'n';
  });
  const end = `startxref\n${table}\n%%EOF\n`;
  if (!isRight || !offsets.endsWith(end)) return undefined;
  parts.push(offsets.slice(0, -end.length));
  return parts.map((part) => `${part.length}:${part}`).join('');
}

/** Unpacks at most that many bytes; undefined if there are more. Throws where the bytes cannot be unpacked. */
export async function inflate(
  packed: Uint8Array<ArrayBuffer>,
  maxBytes: number,
  decoder: TextDecoder,
): Promise<string | undefined> {
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream('deflate'));
  let [text, bytes] = ['', 0];
  for (const reader = stream.getReader(); ; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    // Someone else's file may grow without end as it is unpacked.
    if (bytes > maxBytes) {
      await reader.cancel();
      return undefined;
    }
    text += decoder.decode(value, { stream: true });
  }
}
