// The books of a seller in Berlin, kept a second time by the contract alone. Nothing here is from the service: not its calendar, not
// its rounding, not its order of work. A day is text such as 2024-02-29, and an amount is in cents.
const isLeap = (year: number) => year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
const lengthOf = (year: number, month: number): number =>
  [31, isLeap(year) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] as number;
const partsOf = (day: string) => day.split('-').map(Number) as [year: number, month: number, day: number];
const two = (number: number) => String(number).padStart(2, '0');

export function addDays(from: string, days: number): string {
  let [year, month, day] = partsOf(from);
  for (day += days; day > lengthOf(year, month); ) {
    day -= lengthOf(year, month);
    [year, month] = month === 12 ? [year + 1, 1] : [year, month + 1];
  }
  while (day < 1) {
    [year, month] = month === 1 ? [year - 1, 12] : [year, month - 1];
    day += lengthOf(year, month);
  }
  return `${year}-${two(month)}-${two(day)}`;
}

/** The anchor day some months later, or the last day of a shorter month (contract 7.549). */
function addMonths(from: string, months: number, anchor: number): string {
  const [year, month] = partsOf(from);
  const [y, m] = [year + Math.floor((month - 1 + months) / 12), ((month - 1 + months) % 12) + 1];
  return `${y}-${two(m)}-${two(Math.min(anchor, lengthOf(y, m)))}`;
}

const style = { dateStyle: 'short', timeStyle: 'medium' } as const;
const clock = new Intl.DateTimeFormat('sv-SE', { timeZone: 'Europe/Berlin', ...style });
export const dayOf = (at: number): string => clock.format(at).slice(0, 10);

/** Midnight in Berlin, where clocks are one or two hours ahead of UTC. */
export function startOf(day: string): number {
  const [year, month, date] = partsOf(day);
  const midnights = [-2, -1].map((hours) => Date.UTC(year, month - 1, date, hours));
  return midnights.find((at) => clock.format(at) === `${day} 00:00:00`) as number;
}

/** Rounds half away from zero (contract 7.60). Nothing here is below 0. */
const share = (amount: number, part: number, whole: number): number =>
  Number((BigInt(amount) * BigInt(part) * 2n + BigInt(whole)) / (BigInt(whole) * 2n));
const sum = (amounts: number[]) => amounts.reduce((all, amount) => all + amount, 0);

export type Buyer = { country: string; vatId?: string };
export type Price = { unit_amount: number; quantity: number; interval: 'month' | 'year' };
export type Charge = {
  id: string;
  title: string;
  unit_amount: number;
  quantity: number;
  when: 'now' | 'next';
};
type Open = Charge & { left: number };
type Line = { title: string; quantity: number; amount: number };
type Span = { first: string; last: string };

/** An invoice, or a credit note `of` an invoice. */
export type Document = Span & {
  contract: Contract;
  of?: Document;
  /** Empty until the number is known. */
  number: string;
  issued: string;
  due: string;
  category: string;
  rate: number;
  net: number;
  tax: number;
  total: number;
  lines: Line[];
  isPeriod: boolean;
  /** What is charged besides the period. */
  charged: number;
  credits: Document[];
  allocated: number;
};
export type Contract = {
  signup: string;
  buyer: Buyer;
  plan: string;
  price: Price;
  status: 'trialing' | 'active' | 'past_due' | 'canceled' | 'expired';
  trialEnd?: string | undefined;
  nextDay?: string;
  anchor: number;
  /** The day from which no period begins any more. */
  endDay?: string | undefined;
  waiting: (Span & { price: Price; plan: string })[];
  charges: Open[];
  heldSince?: number;
  verdict?: 'checked' | 'refused';
  /** Periods that are invoiced, or need no invoice. */
  periods: (Span & { invoice: Document | undefined })[];
  invoices: Document[];
};
export type Payment = {
  id: string;
  kind: 'payment' | 'refund' | 'paid_back';
  of: string | null;
  amount: number;
  unallocated: number;
  /** The invoices that this money pays, the newest first. */
  pays: { invoice: Document; amount: number }[];
};
export type Report = {
  status: 'trialing' | 'active' | 'canceled';
  plan: string;
  price: Price;
  occurredAt: number;
  trialEnd?: string | undefined;
  endDay?: string | undefined;
  charges?: Charge[];
};
type Rule = { country: string; rate: number; category: string; from: string };

const holdMs = 14 * 24 * 3_600_000;
export const creditedOf = ({ credits }: Document) => sum(credits.map(({ total }) => total));
export const openOf = (invoice: Document) => invoice.total - creditedOf(invoice) - invoice.allocated;
export const statusOf = (invoice: Document) =>
  creditedOf(invoice) === invoice.total ? 'void' : openOf(invoice) === 0 ? 'paid' : 'open';
/** The day from which the contract of an invoice is past due, if the invoice is still open then (contract 7.81). */
export const pastDueOf = ({ due }: Document) => addDays(due, 1);

export function keepOwnBooks(seller: { waitsWhilePastDue: boolean; rules: Rule[]; daysToPay: number }) {
  const contracts = new Map<string, Contract>();
  const payments: Payment[] = [];
  /** Documents whose numbers are not known yet. */
  const fresh: Document[] = [];
  /** How often each kind of case has happened. */
  const happened = new Map<string, number>();
  const note = (what: string) => happened.set(what, (happened.get(what) ?? 0) + 1);

  /** Contract 7.62 to 7.64. */
  function taxFor({ buyer, verdict }: Contract, last: string): Pick<Rule, 'category' | 'rate'> {
    if (verdict === 'checked') return { category: 'AE', rate: 0 };
    const own = seller.rules.filter(({ country }) => country === buyer.country);
    const all = own.length > 0 ? own : seller.rules.filter(({ country }) => country === '*');
    const dated = all.filter(({ from }) => from <= last).sort((a, b) => (a.from < b.from ? -1 : 1));
    const { category, rate } = dated.at(-1) as Rule;
    return { category, rate };
  }

  function issue(contract: Contract, span: Span, today: string, lines: Line[], price: number): Document {
    const net = sum(lines.map(({ amount }) => amount));
    const taxed = taxFor(contract, span.last);
    const tax = share(net, taxed.rate, 10_000);
    const isPeriod = price > 0;
    const { first, last } = span;
    const invoice: Document = {
      ...{
        contract,
        number: '',
        issued: today,
        due: addDays(today, seller.daysToPay),
        first,
        last,
        ...taxed,
      },
      ...{ net, tax, total: net + tax, lines, isPeriod, charged: net - price, credits: [], allocated: 0 },
    };
    note(`${taxed.category} ${taxed.rate}`);
    note(isPeriod ? `a ${last > addDays(first, 31) ? 'year' : 'month'}` : 'charges alone');
    if (isPeriod && lines.length > 1) note('charges on a period');
    if (lines.some(({ amount }) => amount < 0)) note('a deduction');
    if (contract.heldSince && !contract.verdict) note('nobody looked');
    contract.invoices.push(invoice);
    fresh.push(invoice);
    return invoice;
  }

  /** Adds charges, and then deductions of at most what there is (contract 7.533 and 7.534). */
  function take(contract: Contract, lines: Line[], isDue: (charge: Charge) => boolean): Line[] {
    const rank = ({ left, when }: Open) => (left < 0 ? 2 : 0) + (when === 'next' ? 1 : 0);
    for (const charge of contract.charges.filter(isDue).sort((a, b) => rank(a) - rank(b))) {
      const amount = Math.max(charge.left, -sum(lines.map((line) => line.amount)));
      if (charge.left === 0 || amount === 0) continue;
      const isWhole = amount === charge.unit_amount * charge.quantity;
      if (!isWhole) note('a part of a deduction');
      lines.push({ title: charge.title, quantity: isWhole ? charge.quantity : 1, amount });
      charge.left -= amount;
    }
    return lines;
  }

  /** Contract 7.480 and 7.481. */
  function isHeld(contract: Contract, now: number): boolean {
    if (!contract.buyer.vatId || contract.verdict) return false;
    contract.heldSince ??= now;
    return now < contract.heldSince + holdMs;
  }

  function invoiceWhatIsDue(contract: Contract, now: number, isEnding: boolean): void {
    const today = dayOf(now);
    const waits = contract.status === 'past_due' && seller.waitsWhilePastDue && !isEnding;
    if (waits && contract.waiting.length > 0) note('waits while past due');
    if (waits) return;
    for (let period = contract.waiting[0]; period; period = contract.waiting[0]) {
      const { quantity, unit_amount } = period.price;
      const title = period.plan === 'starter' ? 'Starter' : period.plan;
      const price = quantity * unit_amount;
      const isFree = price + sum(contract.charges.map(({ left }) => left)) <= 0;
      if (!isFree && isHeld(contract, now)) return;
      const lines = take(contract, [{ title, quantity, amount: price }], () => true);
      if (isFree) note('a period with nothing to pay');
      const invoice = isFree ? undefined : issue(contract, period, today, lines, price);
      contract.periods.push({ first: period.first, last: period.last, invoice });
      contract.waiting.shift();
    }
    const isLast = isEnding || (contract.status === 'canceled' && contract.nextDay !== undefined);
    const isDue = ({ when }: Charge) => when === 'now' || isLast;
    // Deductions alone are nothing to invoice.
    if (sum(contract.charges.filter(isDue).map(({ left }) => left)) <= 0 || isHeld(contract, now)) return;
    if (isLast) note('charges after the last period');
    issue(contract, { first: today, last: today }, today, take(contract, [], isDue), 0);
  }

  function settle(contract: Contract, today: string): void {
    if (contract.status !== 'active' && contract.status !== 'past_due') return;
    const isDue = contract.invoices.some((invoice) => openOf(invoice) > 0 && pastDueOf(invoice) <= today);
    if (isDue !== (contract.status === 'past_due')) note(isDue ? 'past due' : 'active again');
    contract.status = isDue ? 'past_due' : 'active';
  }

  /** Does what becomes due in a contract by this time. */
  function step(contract: Contract, now: number): void {
    const today = dayOf(now);
    const { endDay, trialEnd } = contract;
    if (contract.status === 'trialing' && trialEnd && trialEnd <= today) {
      contract.status = 'expired';
      note('a trial that expired');
      for (const charge of contract.charges) if (charge.when === 'next') charge.left = 0;
    }
    settle(contract, today);
    const isRunning = contract.status === 'active' || contract.status === 'past_due';
    for (let first = contract.nextDay; isRunning && first && first <= today; first = contract.nextDay) {
      if (endDay && first >= endDay) break;
      const { anchor, price, plan } = contract;
      contract.nextDay = addMonths(first, price.interval === 'month' ? 1 : 12, anchor);
      contract.waiting.push({ first, last: addDays(contract.nextDay, -1), price, plan });
    }
    const isEnding = isRunning && endDay !== undefined && endDay <= today;
    invoiceWhatIsDue(contract, now, isEnding);
    if (isEnding) contract.status = 'canceled';
  }

  /** The credit notes of an invoice share its tax, so that all of them together credit all of it (contract 7.70). */
  function credit(of: Document, now: number, total = of.total - creditedOf(of)): void {
    const before = sum(of.credits.map((each) => each.tax));
    const tax = share(of.tax, creditedOf(of) + total, of.total) - before;
    const net = total - tax;
    const isWhole = total === of.total;
    const lines = isWhole ? of.lines : [{ ...(of.lines[0] as Line), quantity: 1, amount: net }];
    const made = { ...of, of, number: '', issued: dayOf(now), due: '', net, tax, total, lines, credits: [] };
    of.credits.push(made);
    fresh.push(made);
    note(isWhole ? 'a credit in full' : 'a credit in part');
    // Money that paid the credited amount is unallocated again, the newest payment first (contract 7.134).
    for (const payment of [...payments].reverse())
      for (const pays of payment.pays) {
        const freed = pays.invoice === of ? Math.min(pays.amount, Math.max(0, -openOf(of))) : 0;
        pays.amount -= freed;
        payment.unallocated += freed;
        of.allocated -= freed;
        if (freed > 0) note('money that a credit frees');
      }
  }

  /** Contract 7.31 and 7.528. */
  function end(contract: Contract, from: string, now: number): void {
    contract.waiting = contract.waiting.filter(({ first }) => first < from);
    invoiceWhatIsDue(contract, now, true);
    contract.status = 'canceled';
    for (const invoice of contract.invoices) {
      const { isPeriod, first, total, rate, charged, credits, allocated } = invoice;
      if (!isPeriod || first < from || credits.length > 0 || allocated > 0) continue;
      const kept = Math.max(0, charged);
      note(kept > 0 ? 'a credited period whose charges stay' : 'a credited period');
      credit(invoice, now, total - kept - share(kept, rate, 10_000));
    }
  }

  return {
    ...{ contracts, payments, fresh, happened, note, step, credit },
    report(signup: string, buyer: Buyer, said: Report, now: number): void {
      const { status, plan, price, trialEnd } = said;
      const lists = { waiting: [], charges: [], periods: [], invoices: [] };
      const contract: Contract = contracts.get(signup) ?? {
        ...{ signup, buyer, plan, status, price, trialEnd, anchor: 0, ...lists },
      };
      contracts.set(signup, contract);
      for (const charge of said.charges ?? [])
        contract.charges.push({ ...charge, left: charge.unit_amount * charge.quantity });
      if (status === 'canceled') {
        end(contract, dayOf(said.occurredAt), now);
        return;
      }
      if (status === 'active' && contract.nextDay === undefined) {
        if (contract.status === 'trialing') note('a trial that became active');
        contract.status = 'active';
        contract.nextDay = dayOf(said.occurredAt);
        contract.anchor = partsOf(contract.nextDay)[2];
      }
      Object.assign(contract, { plan, price, endDay: said.endDay });
      step(contract, now);
    },
    /** Whether the clock changes something on this day. The rules leave open at which hour it does. */
    isBusy: ({ nextDay, endDay, trialEnd, heldSince, waiting }: Contract, day: string) =>
      [nextDay, endDay, trialEnd, heldSince && waiting.length > 0 && dayOf(heldSince + holdMs)].includes(day),
    /** Contract 7.131. */
    pay(id: string, invoice: Document, amount: number, now: number): Payment {
      const part = Math.min(amount, openOf(invoice));
      const pays = [{ invoice, amount: part }];
      const payment: Payment = { id, kind: 'payment', of: null, amount, unallocated: amount - part, pays };
      invoice.allocated += part;
      payments.push(payment);
      step(invoice.contract, now);
      return payment;
    },
    /** Contract 7.135. */
    refund(id: string, payment: Payment, amount: number, now: number): void {
      let left = amount - Math.min(amount, payment.unallocated);
      payment.unallocated -= amount - left;
      for (const pays of payment.pays) {
        const part = Math.min(left, pays.amount);
        pays.amount -= part;
        pays.invoice.allocated -= part;
        left -= part;
        step(pays.invoice.contract, now);
      }
      payments.push({ id, kind: 'refund', of: payment.id, amount, unallocated: -left, pays: [] });
    },
    allocate(payment: Payment, invoice: Document, now: number): void {
      const amount = Math.min(payment.unallocated, openOf(invoice));
      payment.unallocated -= amount;
      invoice.allocated += amount;
      payment.pays.unshift({ invoice, amount });
      step(invoice.contract, now);
    },
    payBack(payment: Payment): void {
      const { id: of, unallocated: amount } = payment;
      payments.push({ id: '', kind: 'paid_back', of, amount, unallocated: 0, pays: [] });
      payment.unallocated = 0;
    },
  };
}
