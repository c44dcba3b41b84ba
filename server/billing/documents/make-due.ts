// The job that makes the files of documents after they are issued (contract 7.218 and 7.219). Any number of instances may run
// it at the same time, each on a different document. If a document's files are made twice, the first ones are kept.
import { isDatabaseAway } from '../../../db/postgres/away.ts';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { insertFiles } from '../../../db/tables/document-files.ts';
import {
  claimDocument,
  type DocumentToMake,
  deleteDocumentToMake,
  markNotMade,
} from '../../../db/tables/documents-to-make.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import type { DocumentFacts } from '../values/document-facts.ts';
import type { DocumentMaker } from './document-maker.ts';
import { requireSums } from './require-sums.ts';
import { sealFacts } from './seal.ts';

// Once an instance has claimed a document, no other instance claims it for this many seconds. Making a document takes less time.
const leaseSeconds = 60;
const firstPauseSeconds = 30;
const longestPauseSeconds = 6 * 60 * 60;

type Making = Pick<Dependencies, 'db' | 'log' | 'config'> & { maker: DocumentMaker };

export async function makeDueDocuments(deps: Making, signal?: AbortSignal): Promise<void> {
  while (!signal?.aborted) {
    const due = await claimDocument(deps.db, leaseSeconds);
    if (!due) return;
    await makeDocument(deps, due);
  }
}

/** Logs and stores a failure instead of throwing it, so that the other documents are still made. */
async function makeDocument({ db, log, config, maker }: Making, due: DocumentToMake): Promise<void> {
  const { number, tries } = due;
  try {
    const facts = due.facts as DocumentFacts;
    requireSums(facts);
    const files = await maker.make({ facts, sealed: await sealFacts(facts, config.encryptionKeys) });
    await inTransaction(db, { by: 'service', cause: 'documents' }, async (trx) => {
      await insertFiles(trx, { number, ...files });
      await deleteDocumentToMake(trx, number);
    });
  } catch (err) {
    if (isDatabaseAway(err)) throw err;
    log.error({ err, number }, 'document not made');
    const error = err instanceof Error ? err.message : String(err);
    const pauseSeconds = Math.min(firstPauseSeconds * 2 ** (tries - 1), longestPauseSeconds);
    await markNotMade(db, number, { error: error.slice(0, 1_000), pauseSeconds });
  }
}
