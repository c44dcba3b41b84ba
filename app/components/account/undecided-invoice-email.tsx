import { Section } from '../section.tsx';

type Props = { undecided: { email: string; isProved: boolean } | null };

/** Asks the customer whether to keep the email address for invoices that a signup named (contract 7.402). */
export function UndecidedInvoiceEmail({ undecided }: Props) {
  if (!undecided) return null;
  const { email, isProved } = undecided;
  return (
    <Section id="undecided" title="Where should your invoices go?">
      <form method="post" action="/profile/billing">
        <p>
          The order for your account named <strong>{email}</strong> as the address for your invoices.{' '}
          {isProved
            ? 'They go there, and to you as well until you decide.'
            : 'Nobody has confirmed it yet, so they go to you.'}
        </p>
        <input type="hidden" name="invoiceEmail" value={email} />
        <div className="actions">
          <button type="submit" name="intent" value="own-invoice-email">
            Send them to me
          </button>
          <button type="submit" name="intent" value="keep-invoice-email" className="secondary">
            Keep this address
          </button>
        </div>
      </form>
    </Section>
  );
}
