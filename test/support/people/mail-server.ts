// A mail server on loopback that keeps what arrives and misbehaves on demand.
import { text } from 'node:stream/consumers';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';
import { expect, vi } from 'vitest';

export type ReceivedMail = Email & {
  /** Sender and recipients of the SMTP commands, whatever the headers say. */
  envelope: { from: string; to: string[] };
  source: string;
};

export type MailServerMode =
  | 'accept'
  /** Accepts a mail after some seconds. */
  | 'slow'
  /** Accepts connections and never answers. */
  | 'hang'
  /**
   * Needs `takesMs` for each mail, and accepts one mail after the other. Never answers a mail to an address that matches
   * `hangsFor`.
   */
  | { takesMs: number; hangsFor?: RegExp }
  /** Refuses, and quotes the address as mail servers do. */
  | { refuse: 'MAIL' | 'RCPT' | 'DATA'; code: number };

export type MailServer = {
  url: string;
  mode: MailServerMode;
  /** The mails, in the order of arrival. */
  received: ReceivedMail[];
  /** The credentials of each login, as `name:password`. */
  logins: string[];
  connections: number;
  /** Waits until the recipient has exactly `count` mails, and returns them. */
  waitFor: (recipient: string, count?: number) => Promise<ReceivedMail[]>;
  /** Stops listening on the port until `up` is called. */
  down: () => Promise<void>;
  up: () => Promise<void>;
  close: () => Promise<void>;
};

const slowMs = 3_000;
const wait = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

/** Has no TLS by default. With `tls` its certificate is not trusted. With `login` it accepts mails only after that login. */
export async function startMailServer({
  tls = 'none',
  login,
  hasSmtputf8 = true,
}: {
  tls?: 'none' | 'implicit' | 'starttls';
  login?: string;
  hasSmtputf8?: boolean;
} = {}): Promise<MailServer> {
  let port = 0;
  let server: SMTPServer;
  let turn = Promise.resolve();

  const answerTo = (command: 'MAIL' | 'RCPT' | 'DATA', address: string) => {
    const { mode } = mailServer;
    if (typeof mode === 'string' || !('refuse' in mode) || mode.refuse !== command) return undefined;
    return Object.assign(new Error(`<${address}> is not welcome`), { responseCode: mode.code });
  };

  const listen = () =>
    new Promise<void>((done, failed) => {
      server = new SMTPServer({
        secure: tls === 'implicit',
        disabledCommands: tls === 'starttls' ? [] : ['STARTTLS', ...(login ? [] : ['AUTH'])],
        authOptional: login === undefined,
        disableReverseLookup: true,
        hideSMTPUTF8: !hasSmtputf8,
        logger: false,
        closeTimeout: 20,
        onConnect(_session, callback) {
          mailServer.connections++;
          if (mailServer.mode !== 'hang') callback();
        },
        onAuth({ username, password }, _session, callback) {
          mailServer.logins.push(`${username}:${password}`);
          if (`${username}:${password}` === login) callback(null, { user: username });
          else callback(new Error('Not a login here'));
        },
        onMailFrom: ({ address }, _session, callback) => callback(answerTo('MAIL', address)),
        onRcptTo({ address }, { envelope: { smtpUtf8 } }, callback) {
          // Mail servers refuse this address without SMTPUTF8 (RFC 6531 section 3.5).
          const isRefused = !smtpUtf8 && /\P{ASCII}/u.test(address.split('@')[0] ?? '');
          const refusal = Object.assign(new Error('Mailbox name not allowed'), { responseCode: 553 });
          callback(isRefused ? refusal : answerTo('RCPT', address));
        },
        async onData(stream, { envelope }, callback) {
          const source = await text(stream);
          const to = envelope.rcptTo.map(({ address }) => address);
          const { mode } = mailServer;
          if (mode === 'slow') await wait(slowMs);
          if (typeof mode === 'object' && 'takesMs' in mode) {
            // The sender gets no answer, and gives up after a while.
            if (mode.hangsFor?.test(to.join())) return;
            turn = turn.then(() => wait(mode.takesMs));
            await turn;
          }
          const refusal = answerTo('DATA', to.join());
          if (!refusal) {
            const from = envelope.mailFrom ? envelope.mailFrom.address : '';
            mailServer.received.push({ ...(await PostalMime.parse(source)), envelope: { from, to }, source });
          }
          callback(refusal);
        },
      });
      // Some tests hang up in the middle of a mail, which is an error here.
      server.on('error', failed);
      server.listen(port, '127.0.0.1', () => {
        ({ port } = server.server.address() as { port: number });
        done();
      });
    });
  const down = () => new Promise<void>((done) => server.close(() => done()));

  const mailServer: MailServer = {
    url: '',
    mode: 'accept',
    received: [],
    logins: [],
    connections: 0,
    async waitFor(recipient, count = 1) {
      const find = () => mailServer.received.filter(({ envelope }) => envelope.to.includes(recipient));
      await vi.waitFor(() => expect(find()).toHaveLength(count), 15_000);
      return find();
    },
    down,
    up: listen,
    close: down,
  };
  await listen();
  const user = login?.split(':').map(encodeURIComponent).join(':');
  mailServer.url = `${tls === 'implicit' ? 'smtps' : 'smtp'}://${user ? `${user}@` : ''}127.0.0.1:${port}`;
  return mailServer;
}

/** Returns the one link in a mail, which must lead to `path`. */
export function linkIn({ text = '' }: { text?: string }, path: string): URL {
  const links = text.match(/^https?:\/\/\S+$/gm) ?? [];
  const [link, ...more] = links.filter((each) => new URL(each).pathname === path);
  if (!link || more.length > 0) {
    throw new Error(`one link to ${path} expected on a line of its own: ${text}`);
  }
  return new URL(link);
}

export const tokenIn = (mail: { text?: string }, path: string) =>
  linkIn(mail, path).searchParams.get('token') ?? '';
