// What the page of a refusal offers next: one thing that works for this visitor now (contract 9.198).

type Sender = { title: string; href: string };

type Refusal = {
  code: string | undefined;
  status: number;
  supportUrl: string | undefined;
  sender: Sender | undefined;
  /** The path of a login with another account. After the login, people return to the page that refused them. */
  otherLogin: string | undefined;
  /** Whether nobody is logged in, as far as the page knows. */
  isStranger: boolean;
};

type Next = { href: string; label: string };

const backTo = ({ title, href }: Sender): Next => ({ href, label: `Back to ${title}` });

/** Refusals of a hand-off after which only a new hand-off helps. */
const ofHandOff = new Set(['malformed_payload', 'invalid_signature', 'payload_expired', 'nonce_replayed']);

export function findNext({ code = '', status, supportUrl, sender, otherLogin, isStranger }: Refusal): Next {
  const support = supportUrl ? { href: supportUrl, label: 'Contact support' } : undefined;
  const back = sender && backTo(sender);
  const usual = isStranger
    ? { href: '/login', label: 'Log in' }
    : { href: '/profile', label: 'Go to your profile' };
  if (code === 'account_suspended' || code === 'account_frozen')
    // After a login with the same account, people would get this refusal again.
    return support ?? back ?? { href: '/login?prompt=login', label: 'Log in with another account' };
  // A link back to the product is useless, because the product sends the person straight back here.
  if (code === 'client_not_allowed' && otherLogin)
    return { href: otherLogin, label: 'Log in with another account' };
  if (code === 'admin_not_allowed') return { href: '/login?prompt=login', label: 'Log in here' };
  // If the headers were too large, the service has deleted the session's cookie. So people have to log in again.
  if (code === 'login_required' || code === 'headers_too_large') return { href: '/login', label: 'Log in' };
  if (ofHandOff.has(code)) return back ?? { href: '/login', label: 'Log in' };
  if (code === 'email_in_use') return support ?? back ?? usual;
  // This request fails each time it is repeated: for example, its login was used already, or its launch has wrong parameters.
  // So the page offers the way back to the product, where people can start again.
  if (status === 404 || code === 'invalid_request') return back ?? usual;
  return usual;
}

export function NextThing({ next, sender }: { next: Next; sender: Sender | undefined }) {
  return (
    <div className="actions">
      <a className="button" href={next.href}>
        {next.label}
      </a>
      {sender && sender.href !== next.href && <a href={sender.href}>{backTo(sender).label}</a>}
    </div>
  );
}
