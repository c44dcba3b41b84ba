// A statement of a bank on the page for administrators (contract 7.518 and 7.519). The file is read and forgotten: the page
// keeps its lines until they are accepted.
import { z } from 'zod';
import { findBuyerOf, findInvoice } from '../../db/tables/invoices.ts';
import { findPayment } from '../../db/tables/payments.ts';
import { act, actAsStaff, requireRight } from '../acts/act.ts';
import type { Staff } from '../acts/staff.ts';
import { isCurrency, minorDigits } from '../basics/currencies.ts';
import { AppError, invalidMember } from '../basics/errors.ts';
import { findZone } from '../billing/invoices/issue.ts';
import { findKnown, isStillExact, recordListed } from '../billing/payments/import-payments.ts';
import { findNamed, type Match, matchPayments, type Proposal } from '../billing/payments/match-payments.ts';
import { nameAsRecorded } from '../billing/payments/older-ids.ts';
import { isPayday } from '../billing/payments/paid-on.ts';
import { type ListedPayment, mostWords, readPaymentFile } from '../billing/payments/payment-file.ts';
import { maxAmount } from '../billing/values/amounts.ts';
import { dayIn, noonOf } from '../billing/values/days.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { paymentActs } from './payment-acts.ts';

/** A page with more lines would take too long to accept. */
const mostLines = 200;
const mostFaults = 10;

/** What the page sends back about a line. Only staff who may record any payment may send it. */
const lineSchema = z.object({
  line: z.int(),
  id: z.string().regex(/^(csv|bank):[0-9a-f]{64}$/),
  number: z.string().max(64).nullable(),
  amount: z.int().min(1).max(maxAmount),
  currency: z.string().refine(isCurrency),
  day: z.string().refine((day) => isPayday(day, '9999-12-31')),
  reference: z.string().max(400).nullable(),
  words: z
    .string()
    .max(2 * mostWords)
    .nullable(),
  isBank: z.boolean(),
  isOut: z.boolean(),
});

type Line = z.infer<typeof lineSchema>;

export type StatementLine = Line & { minorDigits: number; exact: string | null } & Omit<
    Match,
    'exact' | 'sure'
  >;

export type Statement = {
  lines: StatementLine[];
  /** `known` is how many payments were recorded before. `out` is how many payments went out and are about no invoice. */
  known: number;
  out: number;
};

export const requireImporter = (staff: Staff) => requireRight(staff, paymentActs.pay.right);

/** Only reads, and records nothing. Throws 422 `validation_failed` at `/statement`, and 404 `not_found` for managers. */
export async function readStatement(deps: Dependencies, staff: Staff, bytes: Uint8Array): Promise<Statement> {
  requireImporter(staff);
  const { db, now } = deps;
  const { payments, faults } = await readPaymentFile(bytes, dayIn(await findZone(db), now()));
  const named = await nameAsRecorded(db, payments);
  const found = [...faults, ...(await findKnown(db, named)).faults];
  if (found.length > 0) {
    const said = found
      .slice(0, mostFaults)
      .map(({ line, column, detail }) => [line && `Line ${line}`, column, detail].filter(Boolean).join(', '));
    const more = found.length > mostFaults ? [`And ${found.length - mostFaults} more.`] : [];
    throw invalidMember('/statement', [...said, ...more].join(' '));
  }
  return describe(deps, named);
}

function refuseMany({ length }: ListedPayment[]): void {
  if (length > mostLines)
    throw invalidMember(
      '/statement',
      `It has ${length} new lines, and this page takes ${mostLines}. Choose fewer days, or use payment:import.`,
    );
}

async function describe({ db }: Pick<Dependencies, 'db'>, payments: (Line & { said?: string })[]) {
  const listed = payments.map((payment) => ({ said: '', ...payment }));
  const { known } = await findKnown(db, listed);
  const fresh = listed.filter(({ id }) => !known.has(id));
  // Counts the lines twice. The first count comes before the search for each line, because that search takes long.
  refuseMany(fresh.filter(({ isOut }) => !isOut));
  const named = await findNamed(db, fresh);
  refuseMany(fresh.filter(({ id, isOut }) => !isOut || named.get(id)?.all.length));
  const matches = await matchPayments(db, fresh, named);
  const lines = fresh.flatMap(({ said: _, ...line }): StatementLine[] => {
    const match = matches.get(line.id);
    // A line for outgoing money gives nothing back if it names no invoice, so it is left out. If it names an invoice, it is
    // kept, because the payment of that invoice may be among these lines.
    if (line.isOut && !match) return [];
    const { exact, proposals = [], alike = [] } = match ?? {};
    const first = exact ? [exact] : [];
    const others = proposals.filter((each) => keyOf(each) !== (exact && keyOf(exact)));
    return [
      {
        ...{ ...line, minorDigits: minorDigits(line.currency) },
        ...{ exact: exact ? keyOf(exact) : null, proposals: [...first, ...others], alike },
      },
    ];
  });
  return { lines, known: known.size, out: fresh.length - lines.length };
}

/** Returns what a line may be accepted as: the number of an invoice, or the id of the payment that it gives back. */
const keyOf = ({ number, payment }: Proposal) => payment ?? number;

type Asked = { lines: string[]; accept: string; to: string; why: string };

export type Accepted = Statement & { recorded: number; left: number };

/**
 * Records one line, or all that match exactly, each in its own transaction. `accept` is `all` or the id of a line. `to` says what
 * that line pays or gives back. `left` counts lines that no longer match exactly, or are for the administrator's own account.
 */
export async function acceptLines(deps: Dependencies, staff: Staff, asked: Asked): Promise<Accepted> {
  requireImporter(staff);
  const lines = asked.lines.map(readLine);
  const { lines: present } = await describe(deps, lines);
  const wanted = present.flatMap((line): [StatementLine, Proposal | undefined][] => {
    const key = asked.accept === 'all' ? line.exact : line.id === asked.accept ? asked.to : null;
    if (key === null) return [];
    const to = line.proposals.find((each) => keyOf(each) === key);
    if (!to && (key !== '' || line.isOut)) throw new AppError('edited_meanwhile');
    return [[line, to]];
  });
  // The act is refused if the page did not send the line. If the page sent a line that is not open any more, somebody else has
  // recorded it, and there is nothing to do.
  if (wanted.length === 0 && asked.accept !== 'all' && !lines.some(({ id }) => id === asked.accept))
    throw new AppError('edited_meanwhile');
  let [recorded, left] = [0, 0];
  for (const [line, to] of wanted) {
    if (staff.visit.deadline.isNear) break;
    const done = await acceptLine(deps, staff, { line, to, why: asked.why, isAll: asked.accept === 'all' });
    if (done) recorded++;
    else left++;
  }
  return { ...(await describe(deps, lines)), recorded, left };
}

function readLine(text: string): Line {
  try {
    return lineSchema.parse(JSON.parse(text));
  } catch {
    throw new AppError('invalid_request', {
      detail: 'A line of the statement is damaged. Upload the file again.',
    });
  }
}

async function acceptLine(
  deps: Dependencies,
  staff: Staff,
  { line, to, why, isAll }: { line: Line; to: Proposal | undefined; why: string; isAll: boolean },
): Promise<boolean> {
  const payment: ListedPayment = { ...line, said: '' };
  const zone = await findZone(deps.db);
  const asked = act({
    about: {
      ...paymentActs.allocate.about,
      // A payment belongs to nobody. But nobody may record a payment for an invoice of their own account.
      async find(db) {
        const invoice = to && (await findInvoice(db, to.number));
        const accountId = invoice ? (await findBuyerOf(db, invoice)).accountId : null;
        return { thing: payment, accountId, userId: null };
      },
      lock: async () => undefined,
    },
    right: paymentActs.pay.right,
    fields: {},
    formBasis: () => null,
    async do({ trx, by }) {
      if (await findPayment(trx, line.id)) return undefined;
      if (isAll && !(to && (await isStillExact(trx, payment, to)))) return undefined;
      const pays = to?.number ?? null;
      return recordListed(trx, payment, { to, pays, paidAt: noonOf(zone, line.day), by });
    },
  });
  try {
    return (await actAsStaff(deps, staff, asked, { why })) !== undefined;
  } catch (error) {
    if (isAll && error instanceof AppError && error.code === 'not_allowed') return false;
    throw error;
  }
}
