// The search words of a text (contract 12.51): of a text about people, and of a query.
import { describe, expect, it } from 'vitest';
import { listWords } from '../../server/staff/search-words.ts';

describe('the words of', () => {
  it.each([
    ['Anna Berg', ['anna', 'berg']],
    ['  anna\tBERG\n', ['anna', 'berg']],
    ['anna.berg+shop@post.example.com', ['anna', 'berg', 'shop', 'post', 'example', 'com']],
    ["O'Neill-Smith & Söhne (2026)", ['o', 'neill', 'smith', 'sohne', '2026']],
    ['Zoë Ångström', ['zoe', 'angstrom']],
    ['Zoe\u0308 A\u030angstro\u0308m', ['zoe', 'angstrom']],
    ['Straße STRASSE STRAẞE', ['strasse']],
    ['İstanbul ISTANBUL', ['istanbul']],
    ['ΣΟΦΟΣ σοφος σοφοσ', ['σοφοσ']],
    ['ﬁlm Ⅷ ½ ２３', ['film', 'viii', '1', '2', '23']],
    ['Ольга Ёлкина', ['ольга', 'елкина']],
    ['李 小龍', ['李', '小龍']],
    ['👩🏽‍💻 — !?', []],
    ['a\u0301'.repeat(3), ['aaa']],
    [`e${'\u0301'.repeat(200)}`, ['e']],
    ['\u202eannA\u202c', ['anna']],
    ["a' b\\c:* & !d <-> e | (f)", ['a', 'b', 'c', 'd', 'e', 'f']],
    ['anna Anna ANNA', ['anna']],
    ['', []],
  ])('%j are %j', (text, words) => {
    expect(listWords(text)).toEqual(words);
  });

  it('a text are cut to what Postgres takes, on both sides alike', () => {
    // No other letter becomes a longer text.
    const [word = '', ...more] = listWords('ﷲ'.repeat(200));
    expect(more).toEqual([]);
    expect(new TextEncoder().encode(word).length).toBeLessThan(2_046);
    expect(listWords('😀'.repeat(300) + '𝒜'.repeat(900))).toEqual(['a'.repeat(500)]);
  });

  it('words are these words again, whatever the characters', () => {
    for (let plane = 0; plane <= 0x10; plane++) {
      const all = Array.from({ length: 0x10000 }, (_, code) => String.fromCodePoint(plane * 0x10000 + code));
      const words = listWords(all.join(' '));
      expect(listWords(words.join(' '))).toEqual(words);
    }
  });
});
