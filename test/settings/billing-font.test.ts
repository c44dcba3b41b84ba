import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { findUnprinted } from '../../server/billing/documents/unprinted.ts';
import { readConfig } from '../../server/settings/config.ts';
import { germanSettings } from '../support/billing/settings.ts';
import { sharedFolder } from '../support/run/shared.ts';

const builtIn = readFileSync('node_modules/dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf');
const folder = await sharedFolder();

const headLength = 16;

/** Builds a font collection that has only the built-in font. */
function buildCollection(): Buffer {
  const font = Buffer.from(builtIn);
  for (let table = 0; table < font.readUInt16BE(4); table++) {
    const at = 12 + 16 * table + 8;
    font.writeUInt32BE(font.readUInt32BE(at) + headLength, at);
  }
  const head = Buffer.alloc(headLength);
  head.write('ttcf');
  head.writeUInt32BE(0x00010000, 4);
  head.writeUInt32BE(1, 8);
  head.writeUInt32BE(headLength, 12);
  return Buffer.concat([head, font]);
}

/** Renames the table of outlines, so that the font is like one of emoji, which has pictures only. */
function renameOutlines(): Buffer {
  const font = Buffer.from(builtIn);
  font.write('CBDT', font.indexOf('glyf'));
  return font;
}

beforeAll(async () => {
  await writeFile(join(folder, 'right.ttf'), builtIn);
  await writeFile(join(folder, 'right.ttc'), buildCollection());
  await writeFile(join(folder, 'pictures.ttf'), renameOutlines());
  await writeFile(join(folder, 'cut.ttf'), builtIn.subarray(0, 40));
  await writeFile(join(folder, 'cut.ttc'), buildCollection().subarray(0, 14));
  await writeFile(join(folder, 'web.woff'), 'wOFF and so on');
  await writeFile(join(folder, 'empty.ttf'), '');
  await writeFile(join(folder, 'large.ttf'), Buffer.concat([builtIn, Buffer.alloc(31 * 1_024 * 1_024)]));
  await writeFile(join(folder, 'huge.ttf'), Buffer.concat([builtIn, Buffer.alloc(32 * 1_024 * 1_024)]));
});

const read = (...names: string[]) =>
  readConfig({ BILLING_FONT_FILES: names.map((name) => join(folder, name)).join(', ') }).billingFonts;

// Contract 7.499.
describe('BILLING_FONT_FILES', () => {
  it('are read at the start, in their order; the built-in font is last', () => {
    // `toEqual` would take seconds for so many bytes.
    const isBuiltIn = (font?: Uint8Array) => font !== undefined && Buffer.compare(font, builtIn) === 0;
    expect(readConfig({}).billingFonts.map(isBuiltIn)).toEqual([true]);
    const fonts = read('large.ttf', 'right.ttf');
    expect(fonts.map(isBuiltIn)).toEqual([false, true, true]);
    expect(fonts[0]?.length).toBeGreaterThan(builtIn.length);
  });

  it('may be collections, which count as their first font', () => {
    const [font = new Uint8Array()] = read('right.ttc');
    const view = new DataView(font.buffer, font.byteOffset);
    expect(view.getUint32(0)).toBe(0x00010000);
    const [at, length] = [view.getUint32(12 + 8), view.getUint32(12 + 12)];
    const original = builtIn.readUInt32BE(12 + 8);
    expect(
      Buffer.compare(font.subarray(at, at + length), builtIn.subarray(original, original + length)),
    ).toBe(0);
  });

  const noFont = 'must name TTF, OTF, TTC or OTC files that have outlines';
  const noFile = 'must name files that can be read, of 32 MiB at most, with commas between them';
  it.each([
    ['web.woff', noFont],
    ['empty.ttf', noFont],
    ['cut.ttf', noFont],
    ['cut.ttc', noFont],
    ['pictures.ttf', noFont],
    ['missing.ttf', noFile],
    ['huge.ttf', noFile],
    ['', noFile],
  ])('are refused if one is %j', (name, says) => {
    expect(() => read('right.ttf', name)).toThrow(`BILLING_FONT_FILES ${says}`);
  });

  it('are refused if they are too large together', () => {
    expect(read('large.ttf', 'large.ttf')).toHaveLength(3);
    expect(() => read('large.ttf', 'large.ttf', 'large.ttf')).toThrow(
      'BILLING_FONT_FILES must name files of 64 MiB at most together',
    );
  });

  it('are not named by their former name alone', () => {
    const former = { BILLING_FONT_FILE: join(folder, 'right.ttf') };
    expect(() => readConfig(former)).toThrow('BILLING_FONT_FILE is now BILLING_FONT_FILES');
    const both = { ...former, BILLING_FONT_FILES: join(folder, 'right.ttf') };
    expect(readConfig(both).billingFonts).toHaveLength(2);
  });
});

it('a font that cannot be opened has no character, and hides none of another (contract 7.494)', () => {
  const seller = { ...germanSettings.seller, name: 'Blumen 花' };
  const damaged = Buffer.from(builtIn);
  damaged.fill(0xff, 12);
  expect(findUnprinted({ ...germanSettings, seller }, [damaged, builtIn])).toEqual([
    { pointer: '/seller/name', characters: ['花'] },
  ]);
});
