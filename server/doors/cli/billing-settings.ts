// Commands for the billing settings, as at /admin/billing/settings (contract 7.127 to 7.129).
import type { Command } from 'commander';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import { AppError } from '../../basics/errors.ts';
import { lookOf } from '../../billing/documents/document-maker.ts';
import type { Unprinted } from '../../billing/documents/unprinted.ts';
import { describeTax } from '../../billing/settings/describe-settings.ts';
import {
  findVersions,
  type SetOutcome,
  setSettings,
  type Versions,
} from '../../billing/settings/set-settings.ts';
import { type BillingSettings, readSettings, writeSettings } from '../../billing/settings/settings.ts';
import { composeSample } from '../../mail/sample.ts';
import { readWhole, writeNewFile } from '../../runtime/files.ts';
import { environment, isTerminal, print, printAside } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { parseStrictJson, StrictJsonError } from '../../sso/strict-json.ts';
import { addReason, booksTrailOf, originOf, type Reason, toJson } from './act.ts';
import { CommandError, escapeJson, now, requireYes, show, withDatabase, writeJson } from './command.ts';

type Options = Reason & { why: string; yes: boolean };

const maxKibibytes = 64;

export function addBillingSettingsCommands(program: Command): void {
  const set = program
    .command('billing:set')
    .description('set the settings of billing; a new bank account or link to pay counts after 24 hours')
    .argument('<file>', 'all settings as JSON, at most 64 KiB; - for standard input')
    .option('--yes', 'do not ask', false);
  addReason(set, { isRequired: true }).action(async (file: string, options: Options) => {
    const settings = readChecked(await readJson(file));
    // Wrong settings can be corrected by setting them again. So if there is no terminal to ask on, the command does not need
    // --yes (contract 12.38).
    await requireYes(
      { yes: options.yes || !isTerminal() },
      `Let ${show(settings.seller.name)} be the seller?`,
    );
    const outcome = await withDatabase((db) =>
      inTransaction(db, originOf('billing:set', options), (trx) =>
        setSettings(trx, { now }, settings, { ...booksTrailOf(options), why: options.why }),
      ),
    ).catch(refuse);
    // The settings are set, so a font that cannot be read must not fail the command.
    const unprinted = await listUnprinted(settings).catch((error: Error) => {
      printAside(show(`The fonts could not be read: ${error.message}`));
      return [];
    });
    print(
      options.json
        ? writeOutcome(outcome, unprinted)
        : [describeOutcome(outcome), '', ...describeTaxLines(settings)].join('\n'),
    );
    if (!options.json) warn(unprinted);
  });

  program
    .command('billing:show')
    .description('print the settings of billing that count now, and those that wait')
    .option('--json', 'for programs: one JSON object', false)
    .action(async ({ json }: { json: boolean }) => {
      const versions = await withDatabase((db) => findVersions(db));
      print(json ? writeVersions(versions) : describeVersions(versions));
    });

  program
    .command('billing:sample')
    .description('write a sample invoice, credit note and reminder into one PDF; nothing is stored')
    .argument('<out>', 'the PDF, which must not exist yet')
    .option('--settings <file>', 'settings as for billing:set (default: those that wait or count)')
    .action(async (out: string, { settings: file }: { settings?: string }) => {
      const settings = file === undefined ? await findLatest() : readChecked(await readJson(file));
      const { makeFiles } = await import('../../billing/documents/make-files.ts');
      const config = readConfig(environment);
      const { pdf } = await makeFiles({ ...composeSample(config, settings, now()), look: lookOf(config) });
      await writeNewFile(out, pdf);
      print(`${show(out)} has a sample invoice, credit note and reminder.`);
      warn(await listUnprinted(settings));
    });
}

/** pdfkit is loaded only here, because most commands do not need it. */
async function listUnprinted(settings: BillingSettings): Promise<Unprinted[]> {
  const { findUnprinted } = await import('../../billing/documents/unprinted.ts');
  return findUnprinted(settings, readConfig(environment).billingFonts);
}

function warn(unprinted: Unprinted[]): void {
  for (const { pointer, characters } of unprinted)
    printAside(
      show(
        `${pointer}: no font has ${characters.join(' ')}. Documents show □ for letters, and leave emoji out.`,
      ),
    );
  if (unprinted.length > 0) printAside('BILLING_FONT_FILES may name fonts that have them.');
}

/** Returns the pending settings or, if none are pending, the settings in force. */
async function findLatest(): Promise<BillingSettings> {
  const { pending, inForce } = await withDatabase((db) => findVersions(db));
  const latest = pending ?? inForce;
  if (!latest) throw new CommandError('There is no seller yet. Name settings with --settings, or set them.');
  return latest.settings;
}

async function readJson(file: string): Promise<unknown> {
  const bytes = await readWhole(file, maxKibibytes);
  try {
    return parseStrictJson(bytes);
  } catch (error) {
    if (!(error instanceof StrictJsonError)) throw error;
    throw new CommandError(`The file ${show(file)} is not strict JSON: ${error.message}.`);
  }
}

function readChecked(json: unknown): BillingSettings {
  try {
    return readSettings(json);
  } catch (error) {
    return refuse(error);
  }
}

/** Throws an error with one line for each wrong setting. */
function refuse(error: unknown): never {
  if (!(error instanceof AppError) || error.errors.length === 0) throw error;
  throw new CommandError(
    error.errors.map(({ pointer, detail }) => show(`${pointer || '/'}: ${detail}`)).join('\n'),
  );
}

function describeOutcome(outcome: SetOutcome): string {
  if (!outcome.done) return `Nothing to change: version ${outcome.version} has these settings already.`;
  const { version, pending } = outcome;
  const done = `Version ${version} of the settings counts now.`;
  if (!pending) return done;
  return (
    `${done} A new bank account or link waits until ${pending.countsFrom.toISOString()}. Then ` +
    `version ${pending.version} counts, unless an administrator stops it. Every administrator gets an email.`
  );
}

const describeTaxLines = (settings: BillingSettings) => [
  'Tax:',
  ...describeTax(settings).map((line) => show(`  ${line}`)),
];

const writeOutcome = ({ done, version, ...more }: SetOutcome, unprinted: Unprinted[]) =>
  toJson('set', done, String(version), {
    unprinted,
    pending:
      'pending' in more && more.pending
        ? { version: more.pending.version, counts_from: more.pending.countsFrom }
        : null,
  });

const writeVersions = ({ inForce, pending }: Versions) => {
  const write = (each: Versions['inForce']) =>
    each
      ? {
          version: each.version,
          counts_from: each.countsFrom,
          made_by: each.madeBy,
          why: each.why,
          settings: writeSettings(each.settings),
        }
      : null;
  return writeJson({ in_force: write(inForce), pending: write(pending) });
};

function describeVersions({ inForce, pending }: Versions): string {
  if (!inForce) return 'There is no seller yet. billing:set makes one.';
  const describe = (words: string, { version, countsFrom, madeBy, why, settings }: typeof inForce) => [
    `Version ${version} ${words} ${countsFrom.toISOString()}, by ${show(madeBy)}: ${show(why)}`,
    ...describeTaxLines(settings),
    ...JSON.stringify(writeSettings(settings), null, 2).split('\n').map(escapeJson),
  ];
  return [
    ...describe('counts since', inForce),
    ...(pending ? ['', ...describe('waits until', pending)] : []),
  ].join('\n');
}
