// The words by which people are found (contract 12.51), as they are stored and as they are searched for.

// A lexeme of Postgres has fewer than 2,047 bytes, and a code point has at most four bytes.
const maxCodePoints = 500;

/** Returns the words of a text, each once. */
export function listWords(text: string): string[] {
  // Marks are removed after the change of case, which adds some marks. At the end of a word, the Greek letter σ is written as
  // ς.
  const plain = text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/\p{M}+/gu, '')
    .replaceAll('ß', 'ss')
    .replaceAll('ς', 'σ');
  return [...new Set((plain.match(/[\p{L}\p{N}]+/gu) ?? []).map(cut))];
}

const cut = (word: string) =>
  word.length > maxCodePoints ? Array.from(word).slice(0, maxCodePoints).join('') : word;
