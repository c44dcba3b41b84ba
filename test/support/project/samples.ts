// The code samples of our documents, by name. Tests run them all. knip reports a sample that no test imports, and
// `listLeftSamples` reports samples without a name.
import { type CodeBlock, readCodeBlocks, readDocuments } from './documents.ts';

const left = readDocuments().flatMap(readCodeBlocks);

/** The one sample of that document and language that contains `words`. */
function take(document: string, language: string, words: string): string {
  const isWanted = (block: CodeBlock) =>
    block.document === document && block.language === language && block.code.includes(words);
  const found = left.filter(isWanted);
  const [only] = found;
  if (!only || found.length > 1)
    throw new Error(`${document} has ${found.length} samples in ${language} that contain: ${words}`);
  left.splice(left.indexOf(only), 1);
  return only.code;
}

function takeAll(language: string): CodeBlock[] {
  const taken = left.filter((block) => block.language === language);
  for (const block of taken) left.splice(left.indexOf(block), 1);
  return taken;
}

export const noncesSample = take('docs/integrate.md', 'sql', 'insert into nonces');
export const payloadSample = take('docs/integrate.md', 'json', '"aud"');

export const pulledSample = take('docs/events.md', 'json', '"events"');
export const nudgeBodySample = take('docs/events.md', 'json', '"client"');

export const linkSample = take('docs/migrate.md', 'js', 'export function buildHandOffLink');
export const phpLinkSample = take('docs/migrate.md', 'php', 'function build_hand_off_link');
export const inboundSample = take('docs/migrate.md', 'json', '"aud"');
export const importSample = take('docs/migrate.md', 'json', '{"id"');

export const contractsSample = take('docs/crm.md', 'json', '"contracts":');
export const chargesSample = take('docs/crm.md', 'json', '"when"');
export const pullSample = take('docs/crm.md', 'js', 'export async function pullContracts');
export const pushSample = take('docs/crm.md', 'js', 'export async function pushSignup');
export const curlSample = take('docs/crm.md', 'sh', 'curl -i');
export const reconcileSample = take('docs/crm.md', 'json', '"price":null');
export const paymentsSample = take('docs/operate/billing.md', 'csv', 'number;');
export const reconcileCsvSample = take('docs/crm.md', 'csv', 'signup_id');
export const signupSample = take('docs/crm.md', 'json', '"occurred_at"');
export const answerSample = take('docs/crm.md', 'json', '"created"');

export const timeoutsSample = take('docs/operate/postgres.md', 'sql', 'statement_timeout');
export const secondRoleSample = take('docs/operate/secrets.md', 'sql', 'create role');
export const createDatabaseSample = take('docs/operate/backups.md', 'sh', 'createdb');
export const lastNumbersSample = take('docs/operate/backups.md', 'sh', '$(cat ');
export const baseBackupSample = take('docs/operate/backups.md', 'sh', 'pg_basebackup');
export const restoreSample = take('docs/operate/backups.md', 'sh', 'pg_restore');
export const composeSecretsSample = take('docs/operate/install.md', 'sh', 'mkdir secrets');

export const paymentSample = take('docs/payments.md', 'json', '"method"');
export const changedInvoicesSample = take('docs/payments.md', 'json', '"invoices"');
export const refundSample = take('docs/payments.md', 'json', '"of"');
export const paymentAnswerSample = take('docs/payments.md', 'json', '"applied"');
export const contractPaymentSample = take('docs/contract/07a-money.md', 'json', '"payment_id"');
export const clientsFileSample = take('docs/operate/clients.md', 'json', '"clients"');
export const billingSettingsSample = take('docs/operate/billing.md', 'json', '"seller"');

export const contractSignupSample = take('docs/contract/07-crm.md', 'json', '"signup_id"');
// This sample is cut short by hand, so no test reads it.
take('docs/contract/10-events.md', 'json', '"seq": 17');

/** Samples of commands. Tests look up what these commands call. */
export const commandSamples = takeAll('sh');

/** Settings of products that speak OpenID Connect. */
export const productSamples = ['ini', 'ruby', 'apache'].flatMap(takeAll);

// Samples of URLs and the like, which nothing can run.
takeAll('text');

/** The samples that no test runs. */
export const listLeftSamples = () =>
  left.map(({ document, language, code }) => `${document}, ${language}: ${code}`);
