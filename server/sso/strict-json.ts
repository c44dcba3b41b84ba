// JSON as this service accepts it from others: UTF-8, no duplicate names, at most 16 levels (contract
// sections 3 and 7). JSON.parse checks the grammar but keeps the last of two equal names, so that two readers
// of one text may see two things; RFC 8259 section 4 leaves that open, and here it is refused.

const maxDepth = 16;

export class StrictJsonError extends Error {}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** The value, or a StrictJsonError that says what is wrong. */
export function parseStrictJson(bytes: Uint8Array): unknown {
  let text: string;
  let value: unknown;
  try {
    text = utf8.decode(bytes);
  } catch {
    throw new StrictJsonError('not UTF-8');
  }
  try {
    value = JSON.parse(text);
  } catch {
    throw new StrictJsonError('not JSON');
  }
  requireDistinctNames(text);
  return value;
}

/** One pass over the tokens of a text that JSON.parse has already accepted, so a simple scan is a sure one. */
function requireDistinctNames(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === '{' || found === '[') {
      open.push(found === '{' ? new Set() : undefined);
      if (open.length > maxDepth) throw new StrictJsonError(`more than ${maxDepth} levels`);
    } else if (found === '}' || found === ']') {
      open.pop();
    } else if (isName(text, index + found.length)) {
      // Compared as read: "a" and "\u0061" are one name.
      const name: string = found.includes('\\') ? JSON.parse(found) : found.slice(1, -1);
      const names = open.at(-1);
      if (names?.has(name)) throw new StrictJsonError('a name twice in one object');
      names?.add(name);
    }
  }
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}
