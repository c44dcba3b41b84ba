// A CRM that sends many signups over and over. One seed always makes the same load, but not the same races.
import type { Answer, SendOptions, TestInstance } from '../app/app.ts';
import { createRandom } from '../run/random.ts';
import { buildSignup, type SignupBody, sendSignup } from './crm.ts';

/** One webhook id with its body, which may be sent many times. */
export type Message = {
  webhookId: string;
  signupId: string;
  /** The email address as the database should have it. The body may spell it in another way. */
  email: string;
  /** A number that grows with `occurred_at`. The plan in the body is `v` and this number. */
  version: number;
  body: string;
  /** Every 200 and 201 that arrived. */
  answers: Pick<Answer, 'status' | 'text'>[];
};

export type Load = {
  messages: Message[];
  /** The sends in their order. A message appears as often as it is sent. */
  sends: Message[];
  random: () => number;
};

/**
 * Sends each signup 1 to 5 times: unchanged, under a new webhook id, or changed. `sharing` is the share of signups whose email
 * address another signup has used.
 */
export function buildLoad({ seed, count, sharing }: { seed: number; count: number; sharing: number }): Load {
  const random = createRandom(seed);
  const below = (limit: number) => Math.floor(random() * limit);
  const messages: Message[] = [];
  const queue: { message: Message; place: number }[] = [];
  const emails: string[] = [];
  const now = new Date();
  const start = now.getTime() - 24 * 3_600_000;

  const write = (at: number, email: string, version: number): string => {
    const signup: SignupBody = buildSignup(
      `load_${at}`,
      { occurred_at: new Date(start + version).toISOString() },
      now,
    );
    const spelt =
      random() < 0.5
        ? email
        : email.replace(/[a-z]/g, (letter) => (random() < 0.5 ? letter.toUpperCase() : letter));
    const { user, contract } = signup;
    return JSON.stringify({
      ...signup,
      user: { ...user, email: spelt },
      contract: { ...contract, plan: `v${version}` },
    });
  };

  for (let at = 0; at < count; at++) {
    const shared = random() < sharing ? emails[Math.max(0, at - 1 - below(3))] : undefined;
    const email = shared ?? `load.${at}@example.test`;
    emails.push(email);
    const own: Message[] = [];
    // Most signups are sent a few times, some 5 times.
    const times = 1 + Math.floor(5 * random() ** 3);
    for (let time = 0; time < times; time++) {
      const earlier = own[below(own.length)];
      let message = earlier;
      if (!earlier || random() < 0.5) {
        const repeated = random() < 0.5 ? earlier : undefined;
        const version = repeated?.version ?? below(1_000_000);
        message = {
          webhookId: `load_${seed}_${messages.length}`,
          signupId: `load_${at}`,
          email,
          version,
          body: repeated?.body ?? write(at, email, version),
          answers: [],
        };
        own.push(message);
        messages.push(message);
      }
      const isLate = random() < 0.2;
      if (message) queue.push({ message, place: at + random() * (isLate ? count / 4 : 3) });
    }
  }
  queue.sort((one, other) => one.place - other.place);
  return { messages, sends: queue.map(({ message }) => message), random };
}

/** An instance of the service, in this process or behind a socket. */
export type Target = {
  config: TestInstance['config'];
  send: (path: string, options: SendOptions | undefined, signal: AbortSignal) => Promise<Answer>;
};

export type LoadOptions = {
  atOnce: number;
  /** The share of sends that the sender aborts after 1 to 50 ms, and then repeats. */
  hangUps: number;
  /** Called before each send, with the number of messages that were acknowledged. */
  onProgress?: (acknowledged: number) => void;
};

const maxAttempts = 400;

/** Sends every message until it is acknowledged. Returns the other answers, and the messages that got no answer. */
export async function sendLoad(load: Load, targets: Target[], options: LoadOptions): Promise<string[]> {
  const { sends, random } = load;
  const faults: string[] = [];
  let [next, acknowledged] = [0, 0];

  const attempt = async (message: Message, hangUpAfterMs: number | undefined): Promise<boolean> => {
    const target = targets[Math.floor(random() * targets.length)];
    if (!target) throw new Error('no instance to send to');
    const signal = AbortSignal.timeout(hangUpAfterMs ?? 20_000);
    const send: TestInstance['send'] = (path, sent) => target.send(path, sent, signal);
    // The sender cannot tell a lost request from a lost answer.
    const answer = await sendSignup({ config: target.config, send }, message.body, message).catch(
      () => undefined,
    );
    if (!answer) return false;
    const { status, text } = answer;
    if (status === 200 || status === 201) {
      message.answers.push({ status, text });
      return true;
    }
    const isRetryAsked =
      // A 408 means that the server closed a connection that was unused for ten seconds, just as this message was sent.
      status === 408 ||
      (status === 409 && /"request_in_progress"/.test(text)) ||
      (status === 503 && /"unavailable"/.test(text));
    if (!isRetryAsked) faults.push(`${message.webhookId} got ${status}: ${text.slice(0, 200)}`);
    return status < 500 && !isRetryAsked;
  };

  const work = async () => {
    for (let message = sends[next++]; message; message = sends[next++]) {
      options.onProgress?.(acknowledged);
      let hangUpAfterMs = random() < options.hangUps ? 1 + Math.floor(random() * 50) : undefined;
      let attempts = 1;
      while (attempts < maxAttempts && !(await attempt(message, hangUpAfterMs))) {
        hangUpAfterMs = undefined;
        attempts++;
        await new Promise((done) => setTimeout(done, 100 + random() * 300));
      }
      if (attempts === maxAttempts) faults.push(`${message.webhookId} was not acknowledged`);
      acknowledged++;
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));
  return faults;
}
