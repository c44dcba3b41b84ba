import { describe, expect, it } from 'vitest';
import { lookOf } from '../../server/billing/documents/document-maker.ts';
import { buildEpcText } from '../../server/billing/documents/epc-code.ts';
import { makeFiles } from '../../server/billing/documents/make-files.ts';
import { sealFacts } from '../../server/billing/documents/seal.ts';
import { formatDecimal } from '../../server/billing/values/decimals.ts';
import type { DocumentFacts } from '../../server/billing/values/document-facts.ts';
import { fillPaymentLink } from '../../server/billing/values/payment-link.ts';
import { readConfig } from '../../server/settings/config.ts';
import { samples } from '../support/billing/document-samples.ts';
import {
  hasPoppler,
  notRun,
  readAttachments,
  readCode,
  readFonts,
  readInfo,
  readStructureText,
  readText,
} from '../support/billing/document-tools.ts';
import {
  type Element,
  readCatalog,
  readDrawn,
  readMarks,
  readStructure,
} from '../support/billing/pdf-structure.ts';
import { readSealedFacts } from '../support/billing/sealed-facts.ts';

const keys = [new Uint8Array(32).fill(1)];
const look = lookOf(readConfig({}));
const make = async (facts: DocumentFacts) => makeFiles({ facts, look, sealed: await sealFacts(facts, keys) });

const withoutSpace = (text: string) => text.normalize('NFKC').replace(/[\s\p{Cf}]/gu, '');
/** Returns the letters of a text, sorted, so that texts with the same letters in another order are equal. */
const countLetters = (text: string) =>
  [...withoutSpace(text)]
    .filter((sign) => /\p{L}/u.test(sign))
    .sort()
    .join('');
const isRtl = (text: string) => /[\u0590-\u06ff]/.test(text);

const day = (iso: string) =>
  new Date(iso).toLocaleDateString('en-GB', { dateStyle: 'long', timeZone: 'UTC' });

/** Lists the texts that the page has to contain (Article 226 of the VAT Directive). */
function listSaid(facts: DocumentFacts): string[] {
  const { seller, buyer, line, currency, net, tax, total } = facts;
  const addresses = [seller.address, buyer.address].flatMap((address) => address ?? []);
  return [
    facts.kind === 'invoice' ? 'Invoice' : 'Credit note',
    facts.number,
    facts.replaces,
    facts.invoice?.number,
    facts.invoice && day(facts.invoice.issued_on),
    day(facts.issued_on),
    facts.due_on && day(facts.due_on),
    seller.name,
    seller.vat_id,
    seller.tax_number,
    seller.foot,
    buyer.name,
    buyer.vat_id,
    ...addresses.flatMap(({ line1, line2, postcode, city }) => [line1, line2, postcode, city]),
    line.title,
    line.description,
    day(line.first_day),
    day(line.last_day),
    ...[net, tax, total].map((amount) => `${currency} ${formatDecimal(amount, currency)}`),
    facts.category !== 'O' && `${facts.rate / 100} %`,
    facts.words,
    facts.payment?.text,
    facts.payment?.link && fillPaymentLink(facts.payment.link, { ...facts, amount: facts.total }),
    facts.payment && seller.iban,
  ].filter((said) => typeof said === 'string');
}

describe.skipIf(!hasPoppler)(`${notRun(hasPoppler, 'poppler-utils')}the PDF of`, () => {
  // Contract 7.200 and 7.211.
  it.each(Object.entries(samples))('%s says what its facts say', async (_, facts) => {
    const { pdf, xml } = await make(facts);
    const text = readText(pdf);
    const [squeezed, letters] = [withoutSpace(text), countLetters(text)];
    for (const said of listSaid(facts))
      if (isRtl(said)) for (const letter of countLetters(said)) expect(letters).toContain(letter);
      else expect(squeezed).toContain(withoutSpace(said));
    const fonts = readFonts(pdf);
    expect(fonts.map(([, ...flags]) => flags.slice(-5, -2))).toEqual([['yes', 'yes', 'yes']]);
    const { 'factur-x.xml': embedded, 'identity-facts.json': sealed = '' } = readAttachments(pdf);
    expect(embedded).toBe(xml);
    expect(String(Buffer.from(pdf))).toMatch(/\/AFRelationship \/Alternative\s+\/F \(factur-x\.xml\)/);
    expect(JSON.parse(sealed).facts).toEqual(JSON.parse(JSON.stringify(facts)));
    expect(readCode(pdf) ?? undefined).toBe(buildEpcText(facts));
  });

  it('an invoice is PDF/A-3b by its own word, of A4, and names its e-invoice (contract 7.204)', async () => {
    const { pdf } = await make(samples['an invoice with tax']);
    const info = readInfo(pdf);
    expect(info).toMatch(/<pdfaid:part>3</);
    expect(info).toMatch(/<pdfaid:conformance>B</);
    expect(info).toMatch(/<fx:ConformanceLevel>EN 16931</);
    expect(info).toMatch(/Title: +Invoice INV-2026-0001\n/);
    expect(info).toMatch(/\(A4\)/);
    expect(info).toMatch(/PDF version: +1\.7/);
  });

  it('an invoice is tagged, and is read in order (contract 7.465 and 7.466)', async () => {
    const { pdf } = await make(samples['an invoice with tax']);
    expect(readInfo(pdf)).toMatch(/Tagged: +yes/);
    const read = readStructureText(pdf);
    // A space separates the last word of a line from the first word of the next line.
    expect(read).toContain('"Lindenstraße 5 10969 Berlin Germany rechnung@blumen.example VAT ID DE123456789');
    const order = [
      '"Invoice"',
      '"Billed to"',
      '"Zoë’s Flowers"',
      '"Starter plan',
      '"EUR 34.51"',
      '"How to pay"',
    ];
    expect(
      order.map((said) => read.indexOf(said)).every((at, index, all) => at > (all[index - 1] ?? -1)),
    ).toBe(true);
  });

  it('names from right to left has them in the order in which they are seen', async () => {
    const { pdf } = await make(samples['an invoice with names from right to left']);
    // Brackets are mirrored. Digits and Latin letters are not.
    expect(readText(pdf)).toContain('2026)');
    expect(readText(pdf)).toContain('Flowers Ltd');
  });

  it('a document without the address of its buyer has no e-invoice', async () => {
    const { buyer, ...facts } = samples['an invoice with tax'];
    const { pdf, xml } = await make({ ...facts, buyer: { ...buyer, address: null } });
    expect(xml).toBeUndefined();
    expect(Object.keys(readAttachments(pdf))).toEqual(['identity-facts.json']);
    expect(readInfo(pdf)).not.toContain('factur-x');
  });
});

const listTags = (elements: Element[]): string[] =>
  elements.flatMap(({ tag, in: more }) => [tag, ...listTags(more)]);
const find = (elements: Element[], tag: string): Element[] =>
  elements.flatMap((element) => [...(element.tag === tag ? [element] : []), ...find(element.in, tag)]);

describe('the tags of a PDF', () => {
  it('say its language, and that its title is shown (contract 7.465)', async () => {
    const { pdf } = await make(samples['an invoice with tax']);
    const catalog = readCatalog(pdf);
    expect(catalog).toContain('/Lang (en)');
    expect(catalog).toContain('/MarkInfo');
    expect(Buffer.from(pdf).toString('latin1')).toContain('/Marked true');
    expect(Buffer.from(pdf).toString('latin1')).toContain('/DisplayDocTitle true');
  });

  it('are headings, tables with headed rows and columns, the link and the QR code (contract 7.466)', async () => {
    const structure = readStructure((await make(samples['an invoice with tax'])).pdf);
    expect(structure.map(({ tag }) => tag)).toEqual(['Document']);
    expect(listTags(structure).filter((tag) => /^H\d$/.test(tag))).toEqual(['H1', 'H2', 'H2']);
    const tables = find(structure, 'Table').map((table) =>
      table.in.map((row) => row.in.map(({ tag, scope }) => scope ?? tag).join(' ')),
    );
    const headed = (rows: number) => Array(rows).fill('Row TD');
    const columns = ['Column Column Column Column Column', 'TD TD TD TD TD'];
    expect(tables).toEqual([headed(5), columns, headed(3), headed(5)]);
    expect(find(structure, 'Link')).toHaveLength(1);
    expect(find(structure, 'Figure').map(({ alt }) => alt)).toEqual([
      'QR code with this account, reference and amount',
    ]);
  });

  it.each(Object.entries(samples))(
    'cover all that is drawn, each once: %s (contract 7.466)',
    async (_, facts) => {
      // The foot is on each page, but is read aloud only one time.
      const seller = { ...facts.seller, foot: 'A foot' };
      const { pdf } = await make({ ...facts, seller, words: 'A long reason. '.repeat(400) });
      const pages = readMarks(pdf);
      expect(pages.length).toBeGreaterThan(1);
      for (const page of pages) {
        const contents = page.flatMap(({ content }) => content ?? []);
        expect(contents).toEqual(contents.map((_each, at) => at));
      }
      // Each page ends with a drawn line, the foot and the page number. Only on the last page is the foot read aloud.
      expect(pages.map((page) => page.slice(-3).map(({ tag }) => tag))).toEqual(
        pages.map((_page, at) => ['Artifact', at === pages.length - 1 ? 'P' : 'Artifact', 'Artifact']),
      );
    },
  );

  it('have text from right to left in the order in which it is read (contract 7.467)', async () => {
    const facts = samples['an invoice with names from right to left'];
    const read = find(readStructure((await make(facts)).pdf), 'P').map(({ actual }) => actual);
    expect(read).toContain(facts.seller.name);
    expect(read).toContain(facts.buyer.name);
    const plain = readStructure((await make(samples['an invoice with tax'])).pdf);
    expect(find(plain, 'P').every(({ actual }) => actual === undefined)).toBe(true);
  });
});

describe('a PDF', () => {
  it('has headings and links in a shade of the accent colour that can be read on paper (contract 8.89)', async () => {
    const facts = samples['an invoice with tax'];
    const { brand, billingFonts } = readConfig({ IDENTITY_ACCENT_COLOR: '#ffee00' });
    const { pdf } = await makeFiles({ facts, look: lookOf({ brand, billingFonts }), sealed: '{}' });
    const shade = brand.accent.onLight.text.slice(1).match(/../g) ?? [];
    const written = shade.map((part) => Number.parseInt(part, 16) / 255).join(' ');
    const drawn = readDrawn(pdf).join('');
    // The colour is used three times: for the title, the payment heading and the link.
    expect(drawn.split(`${written} scn`)).toHaveLength(4);
    expect(drawn).not.toContain('1 0.9333333333333333 0 scn');
  });

  it('is the same bytes each time', async () => {
    const facts = samples['an invoice with tax'];
    expect(await make(facts)).toEqual(await make(facts));
  });
});

describe('the sealed facts of a PDF', () => {
  const facts: DocumentFacts = samples['an invoice with names from right to left'];
  const other = new Uint8Array(32).fill(2);

  it.each(Object.entries(samples))('are in the file: %s', async (_, each) => {
    expect(readSealedFacts((await make(each)).pdf, keys)).toEqual(JSON.parse(JSON.stringify(each)));
  });

  it('are sealed with the first key of a rotation, and with no other', async () => {
    const sealed = await sealFacts(facts, [...keys, other]);
    const { pdf } = await makeFiles({ facts, look, sealed });
    expect(readSealedFacts(pdf, keys)).toEqual(JSON.parse(JSON.stringify(facts)));
    expect(readSealedFacts(pdf, [other])).toBeUndefined();
  });
});
