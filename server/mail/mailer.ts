// Hands mails to an SMTP server.
import { createTransport } from 'nodemailer';
import type { Config } from '../settings/config.ts';
import { isThisMachine } from '../settings/this-machine.ts';

export type Message = {
  id: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  attachment?: { name: string; type: string; bytes: Uint8Array } | undefined;
};

export type Mailer = {
  /** Resolves once the server has accepted the message. */
  send: (message: Message) => Promise<void>;
  close: () => void;
};

/**
 * Turns SMTP_URL into a URL for nodemailer. A plain connection to another machine must turn to TLS before anything is said,
 * unless the URL says `tls=off`: otherwise anybody in between could hide STARTTLS, and read passwords and links.
 */
export function buildTransportUrl(smtpUrl: string): string {
  const url = new URL(smtpUrl);
  const mayBePlain = isThisMachine(url.hostname) || url.searchParams.get('tls') === 'off';
  url.searchParams.delete('tls');
  // In the query, which nodemailer prefers to every other way of saying it.
  if (url.protocol === 'smtp:' && !mayBePlain) url.searchParams.set('requireTLS', 'true');
  return url.href;
}

/**
 * Says of a refusal what it is likely to be about: a server that does not take letters beyond ASCII before the @ often says no
 * more than that the address is wrong.
 */
function nameSmtputf8(error: { message?: string; response?: string; responseCode?: number }) {
  const hint = 'The address has letters beyond ASCII, which take a mail server with SMTPUTF8 (RFC 6531). ';
  if (error.responseCode === undefined) return error;
  return Object.assign(error, {
    message: hint + (error.message ?? ''),
    response: hint + (error.response ?? ''),
  });
}

/** Message ids use the host of `baseUrl`. */
export function createMailer(mail: NonNullable<Config['mail']>, baseUrl: string): Mailer {
  const transport = createTransport({
    url: buildTransportUrl(mail.smtpUrl),
    pool: true,
    maxConnections: 3,
    // A server that hangs counts as failed. All of these times together are shorter than the worker's lease on a mail.
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  });
  const domain = new URL(baseUrl).hostname;
  return {
    async send({ id, to, subject, text, html, attachment }) {
      // nodemailer would remove these two signs, which would turn the address into somebody else's.
      if (/[<>]/.test(to)) throw new Error('Email cannot be sent to this address.');
      const sent = transport.sendMail({
        from: mail.from,
        to: { name: '', address: to },
        subject,
        text,
        html,
        ...(attachment && {
          attachments: [
            {
              filename: attachment.name,
              contentType: attachment.type,
              // Any bytes will do, whatever the types of nodemailer say.
              content: attachment.bytes as Buffer,
            },
          ],
        }),
        // The id is the same at every attempt, so that a mail sent twice can be recognised.
        messageId: `<${id}@${domain}>`,
        // RFC 3834: this header asks machines not to answer.
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
