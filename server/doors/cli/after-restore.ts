// What is done about billing after the database was restored, beside database:restored: documents are put back from their files,
// and then billing goes on (contract 7.347 to 7.359).
import type { Command } from 'commander';
import type { Database } from '../../../db/postgres/client.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { AppError } from '../../basics/errors.ts';
import { type DocumentMaker, openDocumentMaker } from '../../billing/documents/document-maker.ts';
import type { MadeFiles } from '../../billing/documents/make-files.ts';
import { isSamePdf } from '../../billing/documents/same-pdf.ts';
import { readSealed } from '../../billing/documents/seal.ts';
import {
  describeLost,
  describeSpan,
  listLost,
  listNextNumbers,
  resume,
} from '../../billing/invoices/pause.ts';
import { RecoveryError, recoverDocument } from '../../billing/upkeep/recover.ts';
import type { DocumentFacts } from '../../billing/values/document-facts.ts';
import { FileError, readWhole } from '../../runtime/files.ts';
import { endWith, environment, print, printAside } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { addReason, booksTrailOf, originOf, type Reason } from './act.ts';
import {
  describeRefusal,
  now,
  requireAnswerable,
  requireYes,
  show,
  withDatabase,
  writeJson,
} from './command.ts';

export function addAfterRestoreCommands(program: Command): void {
  const recover = program
    .command('invoice:recover')
    .description('put invoices and credit notes back that a restore has lost, from their PDF')
    .argument('<file...>', 'PDFs that this service made, in any order');
  addReason(recover, { isRequired: false }).action(async (files: string[], options: Reason) => {
    const isAllRight = await withDatabase((db) => recoverAll(db, files, options));
    if (!isAllRight) endWith(1);
  });

  const resuming = program
    .command('billing:resume')
    .description('let billing go on after database:restored: documents are issued, and their emails leave')
    .option('--yes', 'do not ask', false);
  addReason(resuming, { isRequired: false }).action(async (options: Reason & { yes: boolean }) => {
    const said = await withDatabase((db) => resumeBilling(db, options));
    print(options.json ? writeJson(said) : said.done ? 'Billing goes on.' : 'Billing was not waiting.');
  });
}

async function resumeBilling(db: Database, options: Reason & { yes: boolean }) {
  const intent = 'resume';
  if (!(await findBillingPause(db))) return { done: false, intent };
  const [next, lost] = [await listNextNumbers(db), await listLost(db)];
  requireAnswerable(options);
  if (!options.json) {
    const sum = lost.reduce((count, span) => count + span.count, 0);
    if (next.length > 0) printAside(`The next invoice is ${next.join(', and the next credit note ')}.`);
    printAside(
      sum > 0
        ? `${sum} ${sum === 1 ? 'document stays' : 'documents stay'} lost: ${describeLost(lost)}.`
        : 'No document is lost.',
    );
  }
  await requireYes(options, 'Let billing go on?');
  const done = await inTransaction(db, originOf('billing:resume', options), (trx) =>
    resume(trx, now(), booksTrailOf(options)),
  );
  return { done, intent, next, lost: lost.map(describeSpan) };
}

const maxKibibytes = 20 * 1_024;

/** A file, and what its document says: what comes first is known before anything is recovered. */
type Sealed = { file: string; facts: DocumentFacts };

/** Recovers what can be, each in a transaction of its own, and says of each what became of it. */
async function recoverAll(db: Database, files: string[], options: Reason): Promise<boolean> {
  const tell = ({ file, number, ...said }: Said) => {
    const name = [number, show(file)].filter(Boolean).join(', ');
    print(options.json ? writeJson({ ...said, number, file }) : `${name}: ${sentences(said)}`);
  };
  const sealed: Sealed[] = [];
  let isAllRight = true;
  for (const file of new Set(files)) {
    const read = await readDocument(file);
    if ('facts' in read) sealed.push({ file, facts: read.facts });
    else {
      isAllRight = false;
      tell({ done: false, file, refused: read.refused });
    }
  }
  // An invoice comes before its credit notes, and one that was issued anew after those.
  let left = sealed.sort((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
  const maker = openDocumentMaker(readConfig(environment).billingFont);
  try {
    for (let hasMoved = true; hasMoved && left.length > 0; ) {
      const later: Sealed[] = [];
      const waiting: Said[] = [];
      for (const each of left) {
        const said = await recoverOne(db, maker, each.file, options);
        if (said.mayComeLater) {
          later.push(each);
          waiting.push(said);
        } else {
          isAllRight &&= said.refused === undefined;
          tell(said);
        }
      }
      hasMoved = later.length < left.length;
      left = later;
      if (hasMoved) continue;
      isAllRight = false;
      for (const said of waiting) tell(said);
    }
  } finally {
    await maker.close();
  }
  return isAllRight;
}

/** Of the same instant, as of one series, the lower number is the earlier one. */
const orderOf = ({ facts: { record, number } }: Sealed) =>
  `${record.issued_at} ${number.length.toString().padStart(3, '0')} ${number}`;

type Said = {
  done: boolean;
  file: string;
  number?: string;
  /** Its file differs from what this version makes of its facts. */
  remade?: boolean;
  /** Numbers that are lost because this one is above them. */
  lost?: string;
  refused?: string;
  mayComeLater?: boolean;
};

const sentences = ({ done, remade, lost, refused }: Omit<Said, 'file' | 'number'>): string =>
  [
    refused === undefined ? (done ? 'Recovered.' : 'It was here already.') : `Not recovered. ${refused}`,
    remade &&
      'Its file is not what this version makes of what it says, so its file is made anew: it was changed, or another version or font has made it.',
    lost && `Lost are ${lost}.`,
  ]
    .filter(Boolean)
    .join(' ');

type Read = { pdf: Uint8Array<ArrayBuffer>; facts: DocumentFacts; sealed: string };

async function readDocument(file: string): Promise<Read | { refused: string }> {
  const pdf = await readWhole(file, maxKibibytes).catch(asRefusal);
  if ('refused' in pdf) return pdf;
  const found = await readSealed(pdf, readConfig(environment).encryptionKeys);
  if (!found)
    return {
      refused:
        'It is no document of this service, or its seal is not right. Was it sealed with an earlier key? Then name that as the second one in IDENTITY_ENCRYPTION_KEY.',
    };
  return { pdf, ...found };
}

function asRefusal(error: unknown): { refused: string } {
  if (error instanceof FileError) return { refused: show(error.message) };
  throw error;
}

async function recoverOne(db: Database, maker: DocumentMaker, file: string, options: Reason): Promise<Said> {
  const read = await readDocument(file);
  if ('refused' in read) return { done: false, file, refused: read.refused };
  const { facts } = read;
  const { number } = facts;
  const files = await findFiles(maker, read);
  try {
    const { isNew, lost } = await inTransaction(db, originOf('invoice:recover', options), (trx) =>
      recoverDocument(trx, { facts, files }, { now: now(), trail: booksTrailOf(options) }),
    );
    return {
      done: isNew,
      file,
      number,
      ...(isNew && !files && { remade: true }),
      ...(lost && { lost: describeSpan(lost) }),
    };
  } catch (error) {
    if (error instanceof RecoveryError)
      return { done: false, file, number, refused: error.message, mayComeLater: error.mayComeLater };
    if (error instanceof AppError) return { done: false, file, number, refused: describeRefusal(error) };
    throw error;
  }
}

/**
 * The files of the document. The seal is about the facts alone, and whoever sent the PDF may have changed what its pages show. So it
 * is kept as it is only where it says what we make of the same facts.
 */
async function findFiles(maker: DocumentMaker, { pdf, facts, sealed }: Read): Promise<MadeFiles | undefined> {
  const made = await maker.make({ facts, sealed }).catch(() => undefined);
  return made && (await isSamePdf(made.pdf, pdf)) ? { pdf, xml: made.xml } : undefined;
}
