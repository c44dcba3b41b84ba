import { describe, expect, it } from 'vitest';
import { parseStrictJson, StrictJsonError } from '../../server/sso/strict-json.ts';
import { quoted } from '../support/run/names.ts';
import { fc } from '../support/run/random.ts';

const parse = (text: string) => parseStrictJson(new TextEncoder().encode(text));

const lists = (levels: number, inner = '') => '['.repeat(levels) + inner + ']'.repeat(levels);
const objects = (levels: number) => '{"a":'.repeat(levels) + 1 + '}'.repeat(levels);

/** Any JSON value with at most 16 levels. */
const anyValue = fc.jsonValue({ maxDepth: 15, depthSize: 'small', stringUnit: 'binary' });

const escapeAll = (text: string) =>
  Array.from({ length: text.length }, (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`);

describe('a duplicate name in an object', () => {
  it.each([
    ['alike', '{"a":1,"a":1}'],
    ['not side by side', '{"a":1,"b":2,"a":3}'],
    ['once escaped', String.raw`{"a":1,"\u0061":2}`],
    ['escaped in two ways', String.raw`{"\/":1,"\u002f":2}`],
    ['escaped in upper and lower case', String.raw`{"\u00eb":1,"\u00EB":2}`],
    ['a surrogate pair and its escapes', String.raw`{"😀":1,"\ud83d\ude00":2}`],
    ['with a quote in it', String.raw`{"\"":1,"\u0022":2}`],
    ['with a backslash at its end', String.raw`{"a\\":1,"a\\":2}`],
    ['with a brace in it', '{"}":1,"}":2}'],
    ['empty', '{"":1,"":2}'],
    ['__proto__', '{"__proto__":1,"__proto__":2}'],
    ['constructor', '{"constructor":1,"constructor":2}'],
    ['a number', '{"0":1,"0":2}'],
    ['before spaces of every kind', '{"a" \t\r\n:1,"a"\n\r\t :2}'],
    ['around an object', '{"a":{"b":1},"a":2}'],
    ['around a list of objects', '{"a":[{"a":1},{"a":2}],"a":3}'],
    ['after strings that look like the end of it', String.raw`{"a":"}","b":"\"}","c":"\\","a":1}`],
    ['in a list', '[1,{"b":1,"b":1}]'],
    ['at the 16th level', lists(15, '{"a":1,"a":2}')],
  ])('is refused (%s)', (_, text) => {
    expect(() => JSON.parse(text)).not.toThrow();
    expect(() => parse(text)).toThrow(new StrictJsonError('duplicate name in an object'));
  });

  it.each([
    ['in two objects of a list', '[{"a":1},{"a":2}]'],
    ['in an object and the one inside it', '{"a":{"a":{"a":1}},"b":{"a":1}}'],
    ['as a name and a value', '{"a":"a","b":["a","a"],"c":"b"}'],
    ['as a value that looks like a name', String.raw`{"a":"\"a\":1","b":"{\"a\":1,\"a\":2}"}`],
    ['in another case', '{"a":1,"A":2}'],
    // In Unicode these are two different texts, although they look alike. Names are compared without normalizing them.
    ['in another normal form', '{"\u00eb":1,"e\u0308":2}'],
    ['an escape and its text', String.raw`{"\\u0061":1,"\u0061":2}`],
    ['with a lone surrogate and another', String.raw`{"\ud800":1,"\ud801":2}`],
  ])('is not seen where there is none (%s)', (_, text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it('is refused at any depth, however the name is spelt', () => {
    const parents = fc.array(fc.constantFrom('[%]', '{"p":%}', '["}",%,{}]', '{"":[],"p":%,"q":"{"}'), {
      maxLength: 15,
    });
    fc.assert(
      fc.property(parents, fc.string({ unit: 'binary' }), anyValue, (around, name, value) => {
        const escaped = `"${escapeAll(name).join('')}"`;
        const twice = `{${JSON.stringify(name)}:1,${escaped}:${JSON.stringify(typeof value)}}`;
        const once = `{${JSON.stringify(name)}:1,${JSON.stringify(`${name}.`)}:2}`;
        const wrap = (inner: string) =>
          around.reduce((text, parent) => parent.replace('%', () => text), inner);
        expect(() => parse(wrap(twice))).toThrow(StrictJsonError);
        expect(parse(wrap(once))).toEqual(JSON.parse(wrap(once)));
      }),
      { numRuns: 500 },
    );
  });
});

describe('nested JSON', () => {
  it.each([
    ['lists', lists(16)],
    ['objects', objects(16)],
    ['a value below 16', lists(16, '"x"')],
    ['many side by side', `[${Array.from({ length: 500 }, () => lists(15)).join()}]`],
    ['brackets inside a string', JSON.stringify(lists(50))],
    ['brackets inside a name', `{${JSON.stringify(lists(50))}:1}`],
    ['after an escaped quote', String.raw`["\"[[[[[[[[[[[[[[[[[["]`],
  ])('is accepted up to 16 levels (%s)', (_, text) => {
    expect(parse(text)).toEqual(JSON.parse(text));
  });

  it.each([
    ['lists', lists(17)],
    ['objects', objects(17)],
    ['both', lists(8, objects(9))],
    ['after shallow ones', `[${lists(15)},${lists(16)}]`],
    ['far more of them', lists(30_000)],
  ])('is refused from 17 levels on (%s)', (_, text) => {
    expect(() => parse(text)).toThrow(new StrictJsonError('more than 16 levels deep'));
  });
});

describe('a text that is not JSON in UTF-8', () => {
  it.each([
    ['nothing', []],
    ['a byte order mark', [0xef, 0xbb, 0xbf, 0x31]],
    ['a stray byte', [0x22, 0xff, 0x22]],
    ['a cut sequence', [0x22, 0xe2, 0x82, 0x22]],
    ['an overlong one', [0x22, 0xc0, 0xa2, 0x22]],
    ['a surrogate', [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ['beyond Unicode', [0x22, 0xf4, 0x90, 0x80, 0x80, 0x22]],
    ['UTF-16', [0x31, 0x00]],
  ])('is refused (%s)', (_, bytes) => {
    expect(() => parseStrictJson(Uint8Array.from(bytes))).toThrow(StrictJsonError);
  });

  it.each(
    quoted([
      '{',
      '}',
      '[1,]',
      '{"a":1,}',
      "{'a':1}",
      '{a:1}',
      '01',
      '+1',
      '.5',
      '1.',
      '0x1',
      'NaN',
      'Infinity',
      'undefined',
      'True',
      '1 2',
      '{}{}',
      '// 1\n1',
      '"\t"',
      '"\\x41"',
      '"\\u00e"',
      '\u00a01',
      '\ufeff1',
      '"a',
    ]),
  )('is refused (%s)', (_, text) => {
    expect(() => parse(text)).toThrow(StrictJsonError);
  });
});

describe('any other JSON', () => {
  it.each(['null', 'true', '-0', '1e400', '1.5', '5e-324', '123456789012345678901', '"\\ud800"', ' \n[]\t'])(
    'is read as JSON.parse reads it (%j)',
    (text) => {
      expect(parse(text)).toEqual(JSON.parse(text));
    },
  );

  it('keeps __proto__ as an ordinary member', () => {
    const value = parse('{"__proto__":{"isAdmin":true}}') as object;
    expect(Object.keys(value)).toEqual(['__proto__']);
    expect(value).not.toHaveProperty('isAdmin');
    expect({}).not.toHaveProperty('isAdmin');
  });

  it('is read as JSON.parse reads it, whatever the value and its spacing', () => {
    const space = fc.constantFrom<string | number>('', 1, '\t', '\r\n');
    fc.assert(
      fc.property(anyValue, space, (value, spacing) => {
        const text = JSON.stringify(value, null, spacing);
        expect(parse(text)).toEqual(JSON.parse(text));
      }),
      { numRuns: 1_000 },
    );
  });

  it('is read up to 64 KiB of escapes in one string, or of names in one object', () => {
    const string = JSON.stringify('"\\{'.repeat(13_000));
    expect(parse(string)).toBe(JSON.parse(string));
    const names = JSON.stringify(Object.fromEntries(Array.from({ length: 6_000 }, (_, at) => [`n${at}`, 1])));
    expect(parse(names)).toEqual(JSON.parse(names));
  });
});
