// Reads the booked entries of a bank statement in CAMT.053 (contract 7.512). The parser ignores DTDs, so that a file cannot
// define entities.
import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { isCurrency, minorDigits } from '../../basics/currencies.ts';
import { FileError } from '../../runtime/files.ts';
import { type BankLine, readDay, readSigned } from './bank-layouts.ts';

// A real statement has about 12 levels of elements, and its longest text has 500 characters.
const maxDepth = 32;
const maxText = 2_000;

/** An element. `text` is its own text, without the text of its children. */
type Node = { name: string; currency: string; text: string; children: Node[] };

/**
 * `line` counts the entries of the statement, from 1, because the whole file may be one line. Throws a FileError if the file is
 * no statement.
 */
export function readCamt(xml: string): (BankLine & { line: number })[] {
  const lines: (BankLine & { line: number })[] = [];
  const open: Node[] = [];
  let account = '';
  let isStatement = false;
  let entries = 0;
  const parser = new SaxesParser({ xmlns: true });
  const refuse = (why: string): never => {
    throw new FileError(`Line ${parser.line}: ${why}`);
  };
  parser.on('error', () => refuse('This is not well-formed XML.'));
  parser.on('doctype', () => refuse('A bank statement has no document type.'));
  parser.on('opentag', ({ local, attributes, uri }) => {
    if (open.length === 0 && !/:camt\.053\./.test(uri))
      refuse('This is not a statement in CAMT.053. Ask the bank for CAMT.053 or CSV.');
    if (open.length === maxDepth) refuse(`It nests deeper than ${maxDepth} levels.`);
    const { value = '' } = (attributes as Record<string, SaxesAttributeNS>).Ccy ?? {};
    open.push({ name: local, currency: value, text: '', children: [] });
    if (local === 'BkToCstmrStmt') isStatement = true;
  });
  const add = (text: string) => {
    const node = open.at(-1);
    if (!node) return;
    node.text += text;
    if (node.text.length > maxText && node.text.trim() === '') node.text = '';
    if (node.text.length > maxText) refuse(`It has a text of over ${maxText} characters.`);
  };
  parser.on('text', add);
  parser.on('cdata', add);
  parser.on('closetag', () => {
    const node = open.pop();
    const parent = open.at(-1);
    if (!node || !parent) return;
    // The elements of a statement are not kept, so that little of the file is in memory. The account and each entry are read
    // here, and the other elements are not needed.
    if (parent.name === 'Stmt' && node.name === 'Acct')
      account = textAt(node, 'Id/IBAN') || textAt(node, 'Id/Othr/Id');
    if (parent.name === 'Stmt' && node.name === 'Ntry') {
      entries++;
      lines.push(...readEntry(node, account).map((line) => ({ line: entries, ...line })));
    } else if (parent.name !== 'Stmt' && parent.name !== 'BkToCstmrStmt') parent.children.push(node);
  });
  parser.write(xml).close();
  if (!isStatement) throw new FileError('The file has no statement in CAMT.053.');
  return lines;
}

/** Returns all elements at a path such as `NtryDtls/TxDtls`. */
const findAll = (node: Node, path: string): Node[] =>
  path
    .split('/')
    .reduce<Node[]>(
      (nodes, name) => nodes.flatMap(({ children }) => children.filter((each) => each.name === name)),
      [node],
    );

const textAt = (node: Node, path: string): string => findAll(node, path)[0]?.text.trim() ?? '';

/** An entry may be one payment, or a batch with an amount for each payment. */
function readEntry(entry: Node, account: string): BankLine[] {
  const status = textAt(entry, 'Sts/Cd') || textAt(entry, 'Sts');
  if (status !== 'BOOK') return [];
  const details = findAll(entry, 'NtryDtls/TxDtls');
  const [whole, parts] = [readAmount(entry, entry), details.map((detail) => readAmount(detail, entry))];
  const isBatch =
    details.length > 1 &&
    parts.every(({ currency }) => currency === whole.currency) &&
    parts.reduce((sum, { amount = Number.NaN }) => sum + amount, 0) === whole.amount;
  const date = textAt(entry, 'BookgDt/Dt') || textAt(entry, 'BookgDt/DtTm') || textAt(entry, 'ValDt/Dt');
  const describe = (detail: Node | undefined, amount: Pick<BankLine, 'amount' | 'currency'>): BankLine => {
    const read = (path: string) => (detail ? textAt(detail, path) : '');
    const side = (amount.amount ?? 0) < 0 ? 'Cdtr' : 'Dbtr';
    const ends = ['EndToEndId', 'MndtId', 'TxId', 'AcctSvcrRef'].map((name) => read(`Refs/${name}`));
    const written = detail
      ? [
          ...findAll(detail, 'RmtInf/Ustrd'),
          ...findAll(detail, 'RmtInf/Strd/CdtrRefInf/Ref'),
          ...findAll(detail, 'RmtInf/Strd/RfrdDocInf/Nb'),
        ].map(({ text }) => text.trim())
      : [textAt(entry, 'AddtlNtryInf')];
    const endToEnd = ends[0] === 'NOTPROVIDED' ? '' : ends[0];
    return {
      ...{ day: readDay(date.replace(/[+Z].*$/, '')), ...amount },
      text: [...written, endToEnd].filter(Boolean).join(' '),
      payer: read(`RltdPties/${side}/Nm`) || read(`RltdPties/${side}/Pty/Nm`),
      id: [account, textAt(entry, 'AcctSvcrRef'), textAt(entry, 'NtryRef'), ...ends].join(' ').trim(),
    };
  };
  return isBatch
    ? details.map((detail, at) => describe(detail, parts[at] ?? whole))
    : [describe(details.length === 1 ? details[0] : undefined, whole)];
}

function readAmount(node: Node, entry: Node): Pick<BankLine, 'amount' | 'currency'> {
  const [amount] = [...findAll(node, 'Amt'), ...findAll(node, 'AmtDtls/TxAmt/Amt')];
  const currency = amount?.currency ?? '';
  const direction = textAt(node, 'CdtDbtInd') || textAt(entry, 'CdtDbtInd');
  const read = readSigned(amount?.text.trim() ?? '', '.', isCurrency(currency) ? minorDigits(currency) : 2);
  return { amount: read === undefined || direction === 'CRDT' ? read : -read, currency };
}
