import { type ActionFunctionArgs, data, type LoaderFunctionArgs } from '@remix-run/node';
import { useActionData, useLoaderData } from '@remix-run/react';
import type { Accepted, Statement, StatementLine } from '../../server/staff/statements.ts';
import { isSecret } from '../act-forms.ts';
import { Confirm } from '../components/confirm.tsx';
import { Field } from '../components/field.tsx';
import { Day } from '../components/instant.tsx';
import { Money } from '../components/money.tsx';
import { Notice } from '../components/notice.tsx';
import { useRefused } from '../components/refused.ts';
import { Row, Rows } from '../components/rows.tsx';
import { Section } from '../components/section.tsx';
import { titled } from '../components/service-name.ts';
import { Refusal, WhyField } from '../components/staff/acts.tsx';
import { StaffPage } from '../components/staff/staff-page.tsx';
import { Choice } from '../components/staff/words.tsx';
import { actConfirmed, answerForm, text } from '../forms.ts';
import { isShownToStaff } from '../refused.ts';
import { loadForStaff } from '../staff.ts';

export const meta = titled('Bank statement');

export const loader = (args: LoaderFunctionArgs) =>
  loadForStaff(args, async (procedures) => {
    await procedures.booksForms.mayImport();
    return {};
  });

/**
 * Each answer is the page itself and no redirect, because the lines are stored nowhere else. If the reader reloads, the form
 * is sent again, but nothing is recorded twice.
 */
export const action = (args: ActionFunctionArgs) =>
  answerForm(args, {
    keeps: (name) => !isSecret(name),
    isLarge: true,
    shows: isShownToStaff,
    async act(form, procedures) {
      // Before the form is checked, redirects people who are not staff any more or must give a credential.
      await procedures.staffForms.who();
      const accept = text(form, 'accept');
      if (!accept) {
        const bytes = form.file ? new Uint8Array(await form.file.arrayBuffer()) : new Uint8Array();
        return data({ statement: await procedures.booksForms.readStatement({ bytes }) });
      }
      const lines = [...form].filter(([name]) => name.startsWith('line-'));
      const at = lines
        .find(([, line]) => accept !== 'all' && line.includes(accept))?.[0]
        .slice('line-'.length);
      const to = text(form, `to-${Number(at ?? 0)}`);
      const asked = { lines: lines.map(([, line]) => line), accept, to, why: text(form, 'why') };
      let statement: Accepted | undefined;
      await actConfirmed(args, { procedures, form }, async () => {
        statement = await procedures.booksForms.acceptLines(asked);
      });
      return data({ statement, why: asked.why });
    },
  });

export const headers = ({ actionHeaders }: { actionHeaders: Headers }) => actionHeaders;

/** A refused form keeps the lines that were sent with it. */
const readKept = (values: Record<string, string>): Statement => ({
  ...{ known: 0, out: 0 },
  lines: Object.entries(values).flatMap(([name, value]) => (name.startsWith('line-') ? readLine(value) : [])),
});

/** Nobody has checked the fields of this form yet, so they may contain anything. */
function readLine(value: string): StatementLine[] {
  try {
    const line = JSON.parse(value);
    const isWhole =
      [line.proposals, line.alike].every(Array.isArray) &&
      Number.isInteger(line.amount) &&
      /^[A-Z]{3}$/.test(line.currency) &&
      !Number.isNaN(Date.parse(line.day));
    return isWhole ? [line] : [];
  } catch {
    return [];
  }
}

const isAccepted = (statement: Statement | Accepted): statement is Accepted => 'recorded' in statement;

export default function Import() {
  const { who } = useLoaderData<typeof loader>();
  const answer = useActionData<{ statement?: Statement | Accepted; why?: string }>();
  const refused = useRefused();
  if (refused?.asks) return <Confirm refused={refused} asks={refused.asks} to="Record the payments" />;
  const statement = answer?.statement ?? (refused?.values.accept ? readKept(refused.values) : undefined);
  return (
    <StaffPage
      title="Bank statement"
      intro="See which invoices the payments of a bank statement pay, and accept them."
      who={who}
      current="/admin/billing"
      part="/admin/billing/import"
    >
      {refused && (refused.values.accept || !refused.errors.statement) && <Refusal refused={refused} />}
      {answer?.statement && isAccepted(answer.statement) && <Done {...answer.statement} />}
      {statement && (
        <Lines statement={statement} why={refused ?? { values: { why: answer?.why ?? '' }, errors: {} }} />
      )}
      <Section id="upload" title={statement ? 'Another file' : 'A file of your bank'} bare>
        <form method="post" encType="multipart/form-data" className="card" data-upload>
          <Field
            label="Bank statement"
            hint="CAMT.053, or CSV as Sparkasse, Volksbank, Deutsche Bank, DKB, ING, N26, Wise and Revolut write it, or with our own five columns. At most 2 MiB. Nothing is recorded before you accept it, and the file is not kept."
            name="statement"
            type="file"
            accept=".csv,.xml,.txt"
            required
            error={refused?.errors.statement}
          />
          <button type="submit" className={statement ? 'secondary' : undefined}>
            Show what it pays
          </button>
        </form>
      </Section>
    </StaffPage>
  );
}

function Done({ recorded, left }: Pick<Accepted, 'recorded' | 'left'>) {
  const said = `${recorded} ${recorded === 1 ? 'line is' : 'lines are'} recorded.`;
  return (
    <Notice kind={left > 0 ? 'warning' : 'success'} focus>
      {said}
      {left > 0 &&
        ` ${left} ${left === 1 ? 'is' : 'are'} not: the invoice has changed meanwhile, or is one of your own account.`}
    </Notice>
  );
}

function Lines({
  statement,
  why,
}: {
  statement: Statement | Accepted;
  why: Parameters<typeof WhyField>[0]['refused'];
}) {
  const { lines, known, out } = statement;
  const exact = lines.filter((line) => line.exact !== null).length;
  const aside = [
    known > 0 && `${known} recorded before`,
    out > 0 && `${out} paid out and about no invoice`,
  ].filter(Boolean);
  const intro = aside.length > 0 ? `Left out: ${aside.join(', ')}.` : undefined;
  if (lines.length === 0)
    return (
      <Section id="lines" title="Nothing to decide" intro={intro}>
        <p>Every payment of the statement is recorded.</p>
      </Section>
    );
  return (
    <Section id="lines" title={`${lines.length} to decide`} intro={intro} bare>
      <form method="post" className="card" data-intent="accept">
        {/* The Enter key presses the first button of the form, so the first button does nothing. */}
        <button type="submit" disabled hidden />
        <WhyField
          hint="At least 3 characters, for each line that you accept. For the audit: only staff see it."
          refused={why}
          autoFocus={!isAccepted(statement)}
        />
        {exact > 0 && (
          <p>
            <button type="submit" name="accept" value="all">
              {exact === 1 ? 'Accept the one that matches exactly' : `Accept all ${exact} that match exactly`}
            </button>
          </p>
        )}
        <Rows>
          {lines.map((line, at) => (
            <Line key={line.id} line={line} at={at} />
          ))}
        </Rows>
      </form>
    </Section>
  );
}

function Line({ line, at }: { line: StatementLine; at: number }) {
  const { currency, minorDigits, amount, day, reference, number, isOut, exact, proposals, alike } = line;
  const options = proposals.map(({ number: named, open, buyer, payment }): [string, string] => [
    payment ?? named,
    payment
      ? `Gives back a payment of ${named}, ${buyer}`
      : `${named}, ${buyer}: ${(open / 10 ** minorDigits).toFixed(minorDigits)} open`,
  ]);
  return (
    <Row
      title={
        <>
          {isOut ? 'Paid out on ' : 'Paid on '} <Day at={new Date(day)} />
        </>
      }
      about={<bdi>{[number, reference].filter(Boolean).join(', ') || 'Without a text'}</bdi>}
      end={
        <span data-matches={exact ? 'exactly' : ''}>
          <Money {...{ currency, minorDigits, unitAmount: isOut ? -amount : amount }} />
        </span>
      }
    >
      {alike.length > 0 && (
        <p data-alike>
          Recorded already, with the same amount and day: <bdi>{alike.join(', ')}</bdi>. Accept this line only
          if it is another payment.
        </p>
      )}
      <input type="hidden" name={`line-${at}`} value={JSON.stringify(line)} />
      {isOut && options.length === 0 ? (
        <p className="hint" data-lacks-payment>
          It names an invoice, but no payment of that invoice can be given back yet. Accept that payment
          first.
        </p>
      ) : (
        <>
          <Choice
            label={exact ? 'Matches exactly' : proposals.length > 0 ? 'May be for' : 'Names no open invoice'}
            name={`to-${at}`}
            id={`to-${at}`}
            value={options[0]?.[0] ?? ''}
            options={[
              ...options,
              ...(isOut ? [] : [['', 'No invoice yet: unallocated'] as [string, string]]),
            ]}
          />
          <button type="submit" className="secondary" name="accept" value={line.id}>
            Accept
            <span className="visually-hidden">
              : line {line.line}, {reference ?? number}
            </span>
          </button>
        </>
      )}
    </Row>
  );
}
