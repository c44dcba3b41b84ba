import type { Command } from 'commander';
import { openCrmView } from '../../billing/contracts/crm-view.ts';
import { type Comparison, compareContracts, type Finding } from '../../billing/contracts/reconcile.ts';
import { readBytes, writeLinesOut } from '../../runtime/files.ts';
import { endWith } from '../../runtime/process.ts';
import { now, withDatabase } from './command.ts';

export function addReconcileCommand(program: Command): void {
  program
    .command('reconcile')
    .description("compare the contracts with a file of the CRM's own view of them; changes nothing")
    .argument('<file>', 'one JSON object per line, or CSV with a header; - for standard input')
    .option('--json', 'print one JSON object per line, the summary last', false)
    .addHelpText(
      'after',
      '\nA different member is shown as: here → in the file.' +
        '\nExit status: 0 if both sides are equal, 1 if anything differs or a line is bad or repeated, ' +
        '2 if they could not be compared.',
    )
    .action(async (file: string, { json }: { json: boolean }) => {
      endWith(2);
      const lines = await openCrmView(readBytes(file));
      const out = writeLinesOut();
      const write = (found: Finding) => (json ? JSON.stringify(found) : describeFinding(found));
      const comparison = await withDatabase(
        (db) => compareContracts({ db, now }, lines, (found) => out.write(found.map(write).join('\n'))),
        // There is no timeout, because there may be very many contracts.
        { statementTimeoutMs: 0 },
      );
      await out.write(json ? JSON.stringify(summarise(comparison)) : describeComparison(comparison));
      endWith(Object.values(comparison.findings).some((count) => count > 0) ? 1 : 0);
    });
}

const summarise = ({ findings, ...rest }: Comparison) => ({ kind: 'summary', ...rest, ...findings });

function describeFinding(found: Finding): string {
  switch (found.kind) {
    case 'bad':
      return `line ${found.line} is bad: ${found.reason}`;
    case 'repeated':
      return `line ${found.line} repeats ${found.signup_id} of line ${found.first_line}, and is not compared`;
    case 'missing':
      return `missing here: ${found.signup_id} (line ${found.line})`;
    case 'extra':
      return `extra here: ${found.signup_id} (${found.ours.status}, ${found.ours.plan})`;
    case 'different': {
      const members = Object.entries(found.members).map(
        ([name, { ours, theirs }]) => `${name} ${describeValue(ours)} → ${describeValue(theirs)}`,
      );
      return `different: ${found.signup_id} (line ${found.line}): ${members.join(', ')}`;
    }
  }
}

function describeValue(value: unknown): string {
  if (value === null) return 'none';
  if (typeof value !== 'object') return String(value);
  const { unit_amount, currency, interval, quantity = 1 } = value as Record<string, unknown>;
  return `${quantity === 1 ? '' : `${quantity} × `}${unit_amount} ${currency} a ${interval}`;
}

function describeComparison({ lines, equal, findings, compared }: Comparison): string {
  const { missing, extra, different, bad, repeated } = findings;
  return (
    `${lines} lines: ${equal} equal, ${missing} missing here, ${extra} extra here, ${different} different, ` +
    `${bad} bad, ${repeated} repeated. Compared: ${compared.join(', ') || 'only which signups there are'}.`
  );
}
