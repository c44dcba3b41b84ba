// The ways in which a cookie may spell a text: as it is, URL-encoded, in hex or base64, or as a part of a JWT or another
// signed value.
import { base64, base64url, decodeHex, encodeHex } from 'oslo/encoding';

type Change = (text: string) => string;

type Spelling = { read: (text: string) => string | undefined; write: (text: string) => string };

const utf8 = new TextDecoder('utf-8', { fatal: true });
const bytesOf = (text: string) => new TextEncoder().encode(text);

/** Decodes bytes as text. Undefined if the result is not readable text. */
function readBytes(decode: () => Uint8Array): string | undefined {
  try {
    const text = utf8.decode(decode());
    return text.length > 0 && !/(?!\s)\p{Cc}/u.test(text) ? text : undefined;
  } catch {
    return undefined;
  }
}

function readUrl(text: string): string | undefined {
  try {
    const read = decodeURIComponent(text);
    return read === text ? undefined : read;
  } catch {
    return undefined;
  }
}

const spellings: Spelling[] = [
  { read: readUrl, write: encodeURIComponent },
  {
    read: (text) => (/^(?:[0-9a-f]{2})+$/i.test(text) ? readBytes(() => decodeHex(text)) : undefined),
    write: (text) => encodeHex(bytesOf(text)),
  },
  {
    read: (text) =>
      /^[A-Za-z0-9+/]+={0,2}$/.test(text)
        ? readBytes(() => base64.decode(text, { strict: false }))
        : undefined,
    write: (text) => base64.encode(bytesOf(text)),
  },
  {
    read: (text) =>
      /^[\w-]+={0,2}$/.test(text) ? readBytes(() => base64url.decode(text, { strict: false })) : undefined,
    write: (text) => base64url.encode(bytesOf(text), { includePadding: false }),
  },
];

/** The characters that separate the parts of a signed value, as in a JWT. */
const mark = /([.|:!~])/;
/** How many spellings may be nested. */
const depth = 3;

/** Returns the value, and each text that it may stand for. */
export function listReadings(value: string, levels = depth): string[] {
  const inner = levels === 0 ? [] : spellings.flatMap(({ read }) => read(value) ?? []);
  return [...new Set([value, ...inner.flatMap((each) => listReadings(each, levels - 1))])];
}

/** Applies the change to each text that `value` may stand for. Each result is spelt in the same way as `value`. */
export function listChanged(value: string, change: Change, levels = depth): string[] {
  const plain = change(value);
  const changed = plain === value ? [] : [plain];
  if (levels === 0) return changed;
  for (const { read, write } of spellings) {
    const text = read(value);
    if (text !== undefined) changed.push(...listChanged(text, change, levels - 1).map(write));
  }
  const parts = value.split(mark);
  if (parts.length > 1) {
    const each = parts.map((part) => listChanged(part, change, levels - 1)[0] ?? part);
    if (each.join('') !== value) changed.push(each.join(''));
  }
  return [...new Set(changed)].filter((each) => each !== value);
}
