// Accepts only JSON that every parser reads in the same way: UTF-8 without a byte order mark, no name twice in an object, and
// at most 16 levels. Half of a surrogate pair is refused, too: an escape can spell one, but databases refuse it. If a name
// came twice, JSON.parse would keep its last value and other parsers its first, so two readers could see two values.
import type { Bytes } from './bytes.ts';

const maxDepth = 16;
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const token = /"(?:[^"\\]|\\.)*"|[{}[\]]/g;

/** Throws an error that says what is wrong. */
export function parseStrictJson(bytes: Bytes): unknown {
  const text = decoder.decode(bytes);
  const value: unknown = JSON.parse(text);
  requirePlain(text);
  return value;
}

/** Call this only for text that JSON.parse has accepted. For such text, a simple scan is enough. */
function requirePlain(text: string): void {
  const open: (Set<string> | undefined)[] = [];
  for (const { 0: found, index } of text.matchAll(token)) {
    if (found === '{' || found === '[') {
      open.push(found === '{' ? new Set() : undefined);
      if (open.length > maxDepth) throw new Error(`more than ${maxDepth} levels deep`);
    } else if (found === '}' || found === ']') {
      open.pop();
    } else {
      // "a" and "\u0061" are the same name.
      const read: string = JSON.parse(found);
      if (/\p{Surrogate}/u.test(read)) throw new Error('half of a character');
      const names = /^[ \t\n\r]*:/.test(text.slice(index + found.length)) ? open.at(-1) : undefined;
      if (names?.has(read)) throw new Error('a name twice in one object');
      names?.add(read);
    }
  }
}
