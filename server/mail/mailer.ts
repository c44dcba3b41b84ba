import { createTransport } from 'nodemailer';
import type { Config } from '../settings/config.ts';
import { isThisMachine } from '../settings/this-machine.ts';

export type Message = {
  id: string;
  to: string;
  replyTo?: string | undefined;
  subject: string;
  text: string;
  html: string;
  attachments?: { name: string; type: string; bytes: Uint8Array }[];
  /** The id of another mail whose contents are part of this mail. */
  includes?: string | undefined;
};

export type Mailer = {
  /** Resolves when the server has accepted the message. */
  send: (message: Message) => Promise<void>;
  close: () => void;
};

/**
 * Requires TLS to other machines, because an attacker in between could hide STARTTLS. `tls=off` in SMTP_URL turns this
 * requirement off.
 */
export function buildTransportUrl(smtpUrl: string): string {
  const url = new URL(smtpUrl);
  const mayBePlain = isThisMachine(url.hostname) || url.searchParams.get('tls') === 'off';
  url.searchParams.delete('tls');
  // The setting is in the URL, because nodemailer would prefer the query of the URL to its other options.
  if (url.protocol === 'smtp:' && !mayBePlain) url.searchParams.set('requireTLS', 'true');
  return url.href;
}

// A server without SMTPUTF8 often says only that the address is wrong, so this names the likely cause.
function nameSmtputf8(error: { message?: string; response?: string; responseCode?: number }) {
  const hint = 'The address has letters beyond ASCII, which take a mail server with SMTPUTF8 (RFC 6531). ';
  if (error.responseCode === undefined) return error;
  return Object.assign(error, {
    message: hint + (error.message ?? ''),
    response: hint + (error.response ?? ''),
  });
}

export function createMailer(mail: NonNullable<Config['mail']>, baseUrl: string): Mailer {
  const transport = createTransport({
    url: buildTransportUrl(mail.smtpUrl),
    pool: true,
    maxConnections: 3,
    // Together these limits are shorter than the worker's lease on a mail. So if a server hangs, the try fails within the lease.
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  });
  const domain = new URL(baseUrl).hostname;
  return {
    async send({ id, to, replyTo, subject, text, html, attachments = [] }) {
      // nodemailer would remove these two characters and send the mail to another address.
      if (/[<>]/.test(to)) throw new Error('Email cannot be sent to this address.');
      const sent = transport.sendMail({
        from: mail.from,
        to: { name: '', address: to },
        // If a reply address has letters beyond ASCII, it is left out. Otherwise every mail would need a mail server with
        // SMTPUTF8.
        ...(replyTo && !/\P{ASCII}/u.test(replyTo) && { replyTo: { name: '', address: replyTo } }),
        subject,
        text,
        html,
        attachments: attachments.map(({ name, type, bytes }) => ({
          filename: name,
          contentType: type,
          // Any bytes work, although the types of nodemailer ask for a Buffer.
          content: bytes as Buffer,
        })),
        // Every attempt has the same id, so that a mail sent twice can be recognised.
        messageId: `<${id}@${domain}>`,
        // Asks mail programs not to send automatic answers (RFC 3834).
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
      await sent.catch((error) => {
        throw /\P{ASCII}/u.test(to) ? nameSmtputf8(error) : error;
      });
    },
    close: () => transport.close(),
  };
}
