// What a PDF shows of texts in any script, with the fonts that the service has (contract 7.490 to 7.492).
import { describe, expect, it } from 'vitest';
import { makeFiles } from '../../server/billing/documents/make-files.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { readConfig } from '../../server/settings/config.ts';
import { samples } from '../support/billing/document-samples.ts';
import {
  buildOtherFont,
  hasPoppler,
  notRun,
  otherFontName,
  readFonts,
  readText,
} from '../support/billing/document-tools.ts';
import { type Element, readStructure } from '../support/billing/pdf-structure.ts';

const builtIn = readConfig({}).billingFonts;
// Only this font has 花.
const other = buildOtherFont();

const { seller, buyer, ...facts } = samples['an invoice with tax'];
const make = (
  name: string,
  { fonts = builtIn, ...changes }: Partial<DocumentFacts> & { fonts?: readonly Uint8Array[] } = {},
) =>
  makeFiles({
    facts: { ...facts, seller, buyer: { ...buyer, name }, ...changes },
    look: { fonts, accent: '#0e6b56' },
    sealed: '{}',
  });

const list = (elements: Element[]): Element[] => elements.flatMap((each) => [each, ...list(each.in)]);
const listActual = (pdf: Uint8Array) => list(readStructure(pdf)).flatMap(({ actual }) => actual ?? []);

describe.skipIf(!hasPoppler)(`${notRun(hasPoppler, 'poppler-utils')}a PDF`, () => {
  it('shows each part of a text in the first font that has it', async () => {
    const { pdf, missing } = await make('Zoë 花 Ltd', { fonts: [...builtIn, other] });
    expect(missing).toEqual([]);
    expect(readText(pdf)).toContain('Zoë 花 Ltd');
    const fonts = readFonts(pdf);
    expect(fonts.map(([name = '']) => name.replace(/^.*\+/, ''))).toEqual([
      'DejaVuSansCondensed',
      otherFontName,
    ]);
    expect(fonts.map((font) => font.slice(-5, -2))).toEqual(Array(2).fill(['yes', 'yes', 'yes']));
    expect(listActual(pdf)).toEqual([]);
  });

  it('holds only fonts that it needs', async () => {
    const { pdf } = await make('花 Ltd', { fonts: [other, ...builtIn] });
    expect(readFonts(pdf).map(([name]) => name)).toEqual([expect.stringContaining(otherFontName)]);
  });

  it.each<[name: string, shown: string, missing: string]>([
    ['花屋 Ltd', '□□ Ltd', '花屋'],
    ['ร้าน', '□□□', 'ร้าน'],
    ['Blumen 🌸 GmbH', 'Blumen GmbH', ''],
    ['🌸 Blumen', 'Blumen', ''],
    ['Blumen 👩🏽‍💻🇩🇪', 'Blumen', ''],
    ['Platz 1️⃣', 'Platz 1', ''],
    ['🌸🌸', '□', '🌸'],
    ['Blumen「花」', 'Blumen□', '花'],
  ])('of %s without a font for it shows %s', async (name, shown, missing) => {
    const { pdf, missing: found } = await make(name);
    expect(readText(pdf)).toContain(`Billed to\n${shown}\n`);
    expect(found.join('')).toBe([...new Set(missing)].join(''));
  });

  it('shows a name from right to left with a part in another font in the order in which it is seen', async () => {
    const { pdf } = await make('פרחים 花 (2026) בעמ', { fonts: [...builtIn, other] });
    // Hebrew begins on the right.
    expect(readText(pdf)).toMatch(/\(2026\) 花|花 \(2026\)/);
    expect(listActual(pdf)).toEqual(['פרחים 花 (2026) בעמ']);
  });

  it('keeps an empty line out if all of a line is left out', async () => {
    const address = { line1: 'High Street 1', line2: '🌸', postcode: '1010', city: 'Wien', country: 'AT' };
    const { pdf } = await make('Zoë', { buyer: { ...buyer, address } });
    expect(readText(pdf)).toContain('High Street 1\n1010 Wien');
  });
});

describe('a screen reader and the XML', () => {
  it.each(['花屋 Ltd', 'Blumen 🌸 GmbH', '🌸🌸'])('have the whole text: %s', async (name) => {
    const { pdf, xml } = await make(name);
    expect(listActual(pdf)).toEqual([name]);
    expect(xml).toContain(`<ram:Name>${name}</ram:Name>`);
  });
});
