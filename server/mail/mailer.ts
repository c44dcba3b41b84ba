// Hands mails to an SMTP server, and knows nothing of what they say.
import { createTransport } from 'nodemailer';
import type { Config } from '../config.ts';

export type Message = { id: string; to: string; subject: string; text: string };

export type Mailer = {
  /** Resolves once the server has taken it. */
  send: (message: Message) => Promise<void>;
  close: () => void;
};

/** `baseUrl` is what message ids are made of. */
export function createMailer(mail: NonNullable<Config['mail']>, baseUrl: string): Mailer {
  const transport = createTransport({
    url: mail.smtpUrl,
    pool: true,
    maxConnections: 3,
    // A server that hangs is one that failed; the worker's lease on a mail is longer than these together.
    connectionTimeout: 10_000,
    greetingTimeout: 10_000,
    socketTimeout: 20_000,
  });
  const domain = new URL(baseUrl).hostname;
  return {
    async send({ id, to, subject, text }) {
      // nodemailer takes these two out of an address, which makes it that of somebody else.
      if (/[<>]/.test(to)) throw new Error('No mail can be addressed there.');
      await transport.sendMail({
        from: mail.from,
        to: { name: '', address: to },
        subject,
        text,
        // The same at every attempt, so that a mail sent twice can be told for what it is.
        messageId: `<${id}@${domain}>`,
        // RFC 3834: no answer by a machine.
        headers: { 'Auto-Submitted': 'auto-generated' },
        disableFileAccess: true,
        disableUrlAccess: true,
      });
    },
    close: () => transport.close(),
  };
}
