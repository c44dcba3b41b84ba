// Writes a document as a tagged PDF/A-3b, with the e-invoice and the sealed facts as attachments. This file is loaded only when a
// document is made, so that the process does not load pdfkit when it starts.
import { minorDigits } from '../../basics/currencies.ts';
import { divideRounded } from '../values/amounts.ts';
import { spellIban } from '../values/bank-account.ts';
import { formatAmount, formatDecimal, formatPercent, writeDigits } from '../values/decimals.ts';
import { type DocumentFacts, type Line, listAddress, listLines } from '../values/document-facts.ts';
import { fillPaymentLink } from '../values/payment-link.ts';
import { attachFiles } from './attachments.ts';
import { buildEpcText } from './epc-code.ts';
import { type Look, page, Sheet } from './sheet.ts';

type PdfParts = { look: Look; xml: string | undefined; sealed: string };

/** `missing` has the letters that no font contains. The PDF shows them as □. */
type Built = { pdf: Uint8Array; missing: string[] };

/** `sealed` is JSON. Equal arguments always give the same bytes. */
export function buildPdf(facts: DocumentFacts, { look, xml, sealed }: PdfParts): Promise<Built> {
  const issuedAt = new Date(facts.record.issued_at);
  return build(look, `${titles[facts.kind]} ${facts.number}`, issuedAt, (sheet) => {
    writeDocument(sheet, facts);
    attachFiles(sheet.doc, { xml, sealed, at: issuedAt });
  });
}

/** `reminder` is the mail that reminds a customer to pay. */
export type SampleToMake = {
  invoice: DocumentFacts;
  creditNote: DocumentFacts;
  reminder: { subject: string; text: string };
  look: Look;
};

const sampleMark = 'SAMPLE: this is no invoice, and nothing is owed.';

/** Writes a sample of an invoice, a credit note and a reminder, one after another. A sample has no attachments. */
export const buildSample = ({ invoice, creditNote, reminder, look }: SampleToMake): Promise<Built> =>
  build(look, 'Sample documents', new Date(invoice.record.issued_at), (sheet) => {
    const mark = (as: 'P' | 'Artifact') =>
      sheet.write(sampleMark, { ...fullLine, y: 24, size: 12, bold: true, colour: '#b3261e', as });
    const countPages = () => sheet.doc.bufferedPageRange().count;
    const parts = [
      () => writeDocument(sheet, invoice),
      () => writeDocument(sheet, creditNote),
      () => writeMail(sheet, reminder),
    ];
    for (const [at, write] of parts.entries()) {
      if (at > 0) sheet.addPage();
      const first = countPages() - 1;
      mark('P');
      write();
      for (let other = first + 1; other < countPages(); other++) {
        sheet.doc.switchToPage(other);
        mark('Artifact');
      }
    }
  });

async function build(
  look: Look,
  Title: string,
  CreationDate: Date,
  write: (sheet: Sheet) => void,
): Promise<Built> {
  const sheet = new Sheet(look, { Title, Producer: 'pdfkit', Creator: 'identity-service', CreationDate });
  const bytes = collect(sheet.doc);
  write(sheet);
  sheet.doc.end();
  return { pdf: await bytes, missing: [...sheet.missing] };
}

function writeDocument(sheet: Sheet, facts: DocumentFacts): void {
  const first = sheet.doc.bufferedPageRange().count - 1;
  reserveFoot(sheet, facts);
  writeHead(sheet, facts);
  writeParties(sheet, facts);
  writeLines(sheet, facts);
  writeTotals(sheet, facts);
  writePayment(sheet, facts);
  writeFeet(sheet, facts, first);
}

const titles = { invoice: 'Invoice', credit_note: 'Credit note' };
const grey = '#5c5c5c';
const halfWidth = 230;
const rightColumn = page.right - halfWidth;
const fullLine = { x: page.left, width: page.right - page.left };
const toTheRight = { x: rightColumn, width: halfWidth, align: 'right' } as const;

const day = new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone: 'UTC' });
const formatDay = (iso: string) => day.format(new Date(`${iso}T00:00:00Z`));

const joinLines = (...lines: (string | null | undefined | false)[]) => lines.filter(Boolean).join('\n');

function writeHead(sheet: Sheet, facts: DocumentFacts): void {
  const { seller } = facts;
  const title = sheet.write(titles[facts.kind], { ...toTheRight, size: 22, as: 'H1' });
  const number = sheet.write(facts.number, { ...toTheRight, y: title, size: 11, colour: grey });
  const name = sheet.write(seller.name, { x: page.left, width: halfWidth, size: 11, bold: true });
  const end = sheet.write(
    joinLines(
      ...listAddress(seller),
      seller.email,
      seller.vat_id && `VAT ID ${seller.vat_id}`,
      seller.tax_number && `Tax number ${seller.tax_number}`,
    ),
    { x: page.left, y: name + 2, width: halfWidth },
  );
  sheet.y = Math.max(number, end) + 28;
}

function writeParties(sheet: Sheet, facts: DocumentFacts): void {
  const { buyer } = facts;
  const label = sheet.write('Billed to', { x: page.left, width: halfWidth, colour: grey, as: 'H2' });
  const name = sheet.write(buyer.name, { x: page.left, y: label, width: halfWidth, size: 10, bold: true });
  const buyerEnd = sheet.write(
    joinLines(...listAddress(buyer), buyer.email, buyer.vat_id && `VAT ID ${buyer.vat_id}`),
    { x: page.left, y: name + 1, width: halfWidth },
  );
  const rows = [
    ['Number', facts.number],
    ['Date of issue', formatDay(facts.issued_on)],
    facts.replaces && ['Takes the place of', facts.replaces],
    facts.invoice && ['Corrects invoice', facts.invoice.number],
    facts.invoice && ['Dated', formatDay(facts.invoice.issued_on)],
    ['First day of service', formatDay(facts.line.first_day)],
    ['Last day of service', formatDay(facts.line.last_day)],
    facts.due_on !== null && ['To be paid by', formatDay(facts.due_on)],
  ].filter(Boolean) as [string, string][];
  const end = writeRows(sheet, rows, { x: rightColumn, y: sheet.y, labelWidth: 100, width: halfWidth });
  sheet.y = Math.max(buyerEnd, end) + 28;
}

const rowHead = { as: 'TH', scope: 'Row' } as const;

type Place = { x: number; y: number; labelWidth: number; width: number };

function writeRows(sheet: Sheet, rows: [label: string, value: string][], place: Place): number {
  const { x, labelWidth, width } = place;
  if (rows.length === 0) return place.y;
  return sheet.within('Table', () => {
    let y = place.y;
    for (const [label, value] of rows)
      sheet.within('TR', () => {
        const end = sheet.write(label, { x, y, width: labelWidth - 8, colour: grey, ...rowHead });
        const valueEnd = sheet.write(value, { x: x + labelWidth, y, width: width - labelWidth, as: 'TD' });
        y = Math.max(end, valueEnd) + 1;
      });
    return y;
  });
}

const columns = {
  what: { x: page.left, width: 235 },
  quantity: { x: 300, width: 50, align: 'right' },
  price: { x: 352, width: 75, align: 'right' },
  rate: { x: 429, width: 35, align: 'right' },
  net: { x: 464, width: page.right - 464, align: 'right' },
} as const;

function writeLines(sheet: Sheet, facts: DocumentFacts): void {
  const { line: period, currency } = facts;
  const days = `${formatDay(period.first_day)} to ${formatDay(period.last_day)}`;
  const rows = listLines(facts).map((line) => ({
    ...line,
    about: joinLines(line.description, line.isPeriod && days),
  }));
  const heightOf = ({ title, about }: (typeof rows)[number]) =>
    sheet.heightOf([title, about].flatMap((text) => (text ? sheet.layOut(text, columns.what.width) : [])));
  const [first] = rows;
  sheet.reserve(40 + (first ? heightOf(first) : 0));
  const head = { colour: grey, size: 8, as: 'TH', scope: 'Column' } as const;
  const cell = { as: 'TD' } as const;
  sheet.within('Table', () => {
    sheet.within('TR', () => {
      sheet.write('Service', { ...columns.what, ...head });
      sheet.write('Quantity', { ...columns.quantity, ...head });
      sheet.write('Price', { ...columns.price, ...head });
      sheet.write('Tax', { ...columns.rate, ...head });
      sheet.y = sheet.write(`Net ${currency}`, { ...columns.net, ...head }) + 4;
    });
    sheet.rule();
    sheet.y += 8;
    for (const line of rows) {
      sheet.reserve(heightOf(line) + 8);
      sheet.within('TR', () => {
        const end = sheet.within('TD', () => {
          const title = sheet.write(line.title, { ...columns.what, bold: true });
          return line.about
            ? sheet.write(line.about, { ...columns.what, y: title + 1, colour: grey })
            : title;
        });
        sheet.write(String(line.quantity), { ...columns.quantity, ...cell });
        sheet.write(formatEach(line, currency), { ...columns.price, ...cell });
        sheet.write(facts.category === 'O' ? '–' : `${formatPercent(facts.rate)}%`, {
          ...columns.rate,
          ...cell,
        });
        sheet.write(formatDecimal(line.net, currency), { ...columns.net, ...cell });
        sheet.y = end + 8;
      });
    }
  });
  sheet.rule();
  sheet.y += 10;
}

/** The price of a single item without tax may need more decimals than the currency has. */
function formatEach({ net, quantity }: Line, currency: string): string {
  if (net % quantity === 0) return formatDecimal(net / quantity, currency);
  const each = Number(divideRounded(BigInt(net) * 100n, BigInt(quantity)));
  return writeDigits(each, minorDigits(currency) + 2);
}

function writeTotals(sheet: Sheet, facts: DocumentFacts): void {
  const { net, tax, total, rate, words, category, currency, kind } = facts;
  sheet.reserve(90);
  const label = { x: 300, width: 140 };
  const value = { x: 440, width: page.right - 440, align: 'right' } as const;
  const rows: [string, number][] = [
    ['Net amount', net],
    [category === 'O' ? 'Tax' : `Tax ${formatPercent(rate)}% of ${formatDecimal(net, currency)}`, tax],
  ];
  const writeRow = (name: string, amount: number, style: { size?: number; bold?: boolean } = {}) =>
    sheet.within('TR', () => {
      sheet.write(name, { ...label, ...style, ...rowHead });
      sheet.y = sheet.write(formatAmount(amount, currency), { ...value, ...style, as: 'TD' });
    });
  sheet.within('Table', () => {
    for (const row of rows) {
      writeRow(...row);
      sheet.y += 3;
    }
    sheet.y += 3;
    writeRow(kind === 'invoice' ? 'Total' : 'Total credited', total, { size: 12, bold: true });
  });
  sheet.y += 12;
  if (words) {
    sheet.reserve(sheet.heightOf(sheet.layOut(words, fullLine.width)));
    sheet.y = sheet.write(words, fullLine) + 12;
  }
}

function writePayment(sheet: Sheet, facts: DocumentFacts): void {
  const { seller, payment, invoice, total, currency } = facts;
  if (invoice) {
    const text = `This credit note corrects invoice ${invoice.number} of ${formatDay(invoice.issued_on)}. You do not have to pay anything for it.`;
    sheet.reserve(20);
    sheet.y = sheet.write(text, fullLine);
    return;
  }
  const code = buildEpcText(facts);
  const codeSize = 96;
  const width = fullLine.width - (code ? codeSize + 24 : 0);
  const rows: [string, string][] = seller.iban
    ? [
        ['Account holder', seller.name],
        ['IBAN', spellIban(seller.iban)],
        ...(seller.bic ? ([['BIC', seller.bic]] as [string, string][]) : []),
        ['Reference', facts.number],
        ['Amount', formatAmount(total, currency)],
      ]
    : [];
  const { text = null } = payment ?? {};
  const link = facts.payment?.link && fillPaymentLink(facts.payment.link, { ...facts, amount: facts.total });
  if (rows.length === 0 && !text && !link) return;
  const words = [text, link]
    .filter((part) => typeof part === 'string')
    .map((part) => sheet.layOut(part, width));
  const rowLines = rows.map(([, value]) => sheet.layOut(value, width - 90));
  const height = 40 + sheet.heightOf([...words, ...rowLines].flat()) + rows.length + 12;
  sheet.reserve(Math.max(height, code ? codeSize + 40 : 0));
  const heading = { x: page.left, y: sheet.y + 6, width, size: 11, bold: true, as: 'H2' } as const;
  const top = sheet.write('How to pay', heading) + 4;
  let y = writeRows(sheet, rows, { x: page.left, y: top, labelWidth: 90, width });
  if (text) y = sheet.write(text, { x: page.left, y: y + 4, width });
  if (link) y = sheet.writeLink(link, { x: page.left, y: y + 4, width });
  if (code) {
    const place = { x: page.right - codeSize, y: sheet.y + 10, size: codeSize };
    sheet.drawCode(code, { ...place, alt: 'QR code with this account, reference and amount' });
    const caption = { ...toTheRight, y: place.y + codeSize + 10, size: 7, colour: grey };
    y = Math.max(y, sheet.write('Scan with your banking app', caption));
  }
  sheet.y = y;
}

const footStyle = { size: 7.5, colour: grey };
const footWidth = fullLine.width - 110;

function reserveFoot(sheet: Sheet, { seller }: DocumentFacts): void {
  const lines = sheet.layOut(seller.foot ?? ' ', footWidth, footStyle);
  sheet.bottom = page.height - 44 - sheet.heightOf(lines, footStyle);
}

function writeMail(sheet: Sheet, { subject, text }: SampleToMake['reminder']): void {
  sheet.bottom = page.height - 60;
  sheet.y = sheet.write('Reminder by email', { ...fullLine, size: 22, as: 'H1' }) + 14;
  sheet.y = sheet.write(subject, { ...fullLine, size: 11, bold: true, as: 'H2' }) + 10;
  for (const part of text.trim().split('\n\n')) {
    sheet.reserve(sheet.heightOf(sheet.layOut(part, fullLine.width)));
    sheet.y = sheet.write(part, fullLine) + 8;
  }
}

/** `first` is the number of the document's first page in the PDF, from 0. */
function writeFeet(sheet: Sheet, { seller, number }: DocumentFacts, first: number): void {
  const { count } = sheet.doc.bufferedPageRange();
  const y = sheet.bottom + 14;
  for (let at = first; at < count; at++) {
    sheet.doc.switchToPage(at);
    sheet.rule(y - 6);
    // Each page shows this text, but a screen reader reads it only on the last page.
    const as = at === count - 1 ? 'P' : 'Artifact';
    if (seller.foot) sheet.write(seller.foot, { x: page.left, y, width: footWidth, ...footStyle, as });
    const place = { x: page.right - 100, y, width: 100, align: 'right', as: 'Artifact' } as const;
    sheet.write(`${number} · ${at + 1 - first} of ${count - first}`, { ...place, ...footStyle });
  }
}

async function collect(doc: PDFKit.PDFDocument): Promise<Uint8Array> {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  for await (const chunk of doc) chunks.push(chunk as unknown as Uint8Array<ArrayBuffer>);
  return new Uint8Array(await new Blob(chunks).arrayBuffer());
}
