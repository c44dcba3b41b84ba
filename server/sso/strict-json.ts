// The JSON that this service accepts: UTF-8, no duplicate names, at most 16 levels (contract 3.23 and 7.6). If a name came twice,
// some parsers would keep its first value and others its last, so two readers of one text could see two values.

const maxDepth = 16;

export class StrictJsonError extends Error {}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** Returns whether the bytes are only what JSON allows between two values. */
export const isBlank = (bytes: Uint8Array) =>
  bytes.every((byte) => ' \t\r\n'.includes(String.fromCharCode(byte)));

/** Throws a StrictJsonError that says what is wrong. */
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

/** Call this only for text that JSON.parse accepts. For such text, a simple scan is enough. */
function requireDistinctNames(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === '{' || found === '[') {
      open.push(found === '{' ? new Set() : undefined);
      if (open.length > maxDepth) throw new StrictJsonError(`more than ${maxDepth} levels deep`);
    } else if (found === '}' || found === ']') {
      open.pop();
    } else if (isName(text, index + found.length)) {
      // "a" and "\u0061" are the same name.
      const name: string = found.includes('\\') ? JSON.parse(found) : found.slice(1, -1);
      const names = open.at(-1);
      if (names?.has(name)) throw new StrictJsonError('duplicate name in an object');
      names?.add(name);
    }
  }
}

function isName(text: string, end: number): boolean {
  let at = end;
  while (text[at] === ' ' || text[at] === '\n' || text[at] === '\r' || text[at] === '\t') at++;
  return text[at] === ':';
}

const literal = /"(?:[^"\\]|\\.)*"|[{}[\],]|-?\d[\d.eE+-]*/g;

/**
 * Returns JSON pointers to numbers that are not written as integers, such as 79.00 or 1e3. Call `parseStrictJson` on the bytes
 * first.
 */
export function listFractions(bytes: Uint8Array): string[] {
  const text = utf8.decode(bytes);
  const found: string[] = [];
  // The present name or index in each open object or array.
  const path: (string | number)[] = [];
  for (const { 0: token, index } of text.matchAll(literal)) {
    const at = path.length - 1;
    if (token === '{') path.push('');
    else if (token === '[') path.push(0);
    else if (token === '}' || token === ']') path.pop();
    else if (token === ',') path[at] = typeof path[at] === 'number' ? path[at] + 1 : '';
    else if (token.startsWith('"')) {
      if (isName(text, index + token.length)) path[at] = JSON.parse(token);
    } else if (/[.eE]/.test(token)) found.push(path.map((part) => `/${part}`).join(''));
  }
  return found;
}
