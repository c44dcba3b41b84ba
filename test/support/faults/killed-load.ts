// People and systems that use a service. The service may die at any moment. They remember what the service has acknowledged.
import { readConfig } from '../../../server/settings/config.ts';
import type { TestApp } from '../app/app.ts';
import { buildSignup, freshWebhookId, signMessage } from '../crm/crm.ts';
import { buildHandOff } from '../marketplace/marketplace.ts';

const password = 'local demo password';
const timeoutMs = 15_000;

export type Acknowledged = {
  /** For each user, the number in the last name that the service has acknowledged. */
  edits: Map<string, number>;
  /** The `signup_id` of each acknowledged signup. */
  signups: Set<string>;
  /** The hand-offs that were sent, by their path. `isAccepted` is true if the service has accepted the hand-off. */
  handOffs: Map<string, { id: string; isAccepted: boolean }>;
  /** Cookies of sessions that were ended. */
  logouts: string[];
  /** Email addresses to which a mail is under way. */
  mails: string[];
};

export type Load = {
  acknowledged: Acknowledged;
  send: Send;
  unexpected: string[];
  stop: () => Promise<void>;
};

type Answer = { status: number; text: string; cookie: string | undefined };
/** Sends a request; undefined if nothing was answered. */
type Send = (path: string, init?: RequestInit) => Promise<Answer | undefined>;

export const killedEnv = { TRUSTED_PROXIES: 'loopback' };

/** Starts the load on the service at that port. Several requests of each kind are under way at the same time. */
export function startLoad(port: number): Load {
  const config = readConfig({ ...killedEnv, PORT: String(port) });
  const unexpected: string[] = [];
  let isOver = false;
  let serial = 0;
  const acknowledged: Acknowledged = {
    edits: new Map(),
    signups: new Set(),
    handOffs: new Map(),
    logouts: [],
    mails: [],
  };

  const send: Send = async (path, init = {}) => {
    const from = `10.${++serial % 250}.${Math.floor(serial / 250) % 250}.1`;
    const headers = { origin: config.baseUrl, 'x-forwarded-for': from, ...init.headers };
    try {
      const response = await fetch(config.baseUrl + path, {
        ...init,
        headers,
        redirect: 'manual',
        signal: AbortSignal.timeout(timeoutMs),
      });
      const { status } = response;
      if (status >= 500 && status !== 503) unexpected.push(`${status} ${path}`);
      return {
        status,
        text: await response.text(),
        cookie: response.headers
          .getSetCookie()
          .find((each) => each.startsWith('identity_session='))
          ?.split(';')[0],
      };
    } catch {
      return undefined;
    }
  };
  const post = (path: string, form: Record<string, string>, cookie = '') =>
    send(path, { method: 'POST', body: new URLSearchParams(form), headers: { cookie } });
  const repeat = async (work: () => Promise<unknown>) => {
    while (!isOver) {
      await work();
      await new Promise((done) => setTimeout(done, 10));
    }
  };
  const logIn = async (email: string) => (await post('/login', { email, password }))?.cookie;

  const edit = async (email: string) => {
    let cookie: string | undefined;
    let number = 0;
    await repeat(async () => {
      cookie ??= await logIn(email);
      if (!cookie) return;
      number++;
      const answer = await send('/trpc/profile.update', {
        method: 'POST',
        body: JSON.stringify({ json: { name: `Edit ${number}` } }),
        headers: { cookie, 'content-type': 'application/json' },
      });
      if (answer?.status === 200) acknowledged.edits.set(email, number);
    });
  };
  const pushSignup = () =>
    repeat(async () => {
      const id = `killed-${++serial}`;
      const body = JSON.stringify(buildSignup(id));
      const webhookId = freshWebhookId();
      // Sends again, as a CRM does, until the answer says that the signup has arrived.
      for (let answer: Answer | undefined; answer?.status !== 201 && !isOver; ) {
        const headers = signMessage(config.crmSignupsSecrets?.[0] ?? '', body, { webhookId });
        answer = await send('/integrations/crm/signups', { method: 'POST', body, headers });
        if (answer?.status === 201) acknowledged.signups.add(id);
      }
      if (!acknowledged.signups.has(id)) return;
      const email = `${id}@example.test`;
      if ((await post('/forgot-password', { email }))?.status === 303) acknowledged.mails.push(email);
    });
  const handOver = () =>
    repeat(async () => {
      const id = `killed-${++serial}`;
      const path = await buildHandOff({ config } as TestApp, { id });
      acknowledged.handOffs.set(path, { id, isAccepted: false });
      const isAccepted = (await send(path))?.status === 303;
      acknowledged.handOffs.set(path, { id, isAccepted });
    });
  const logOut = () =>
    repeat(async () => {
      const cookie = await logIn('new-merchant@example.test');
      if (cookie && (await post('/logout', {}, cookie))?.status === 303) acknowledged.logouts.push(cookie);
    });

  const underWay = [
    edit('merchant@example.test'),
    edit('customer@example.test'),
    pushSignup(),
    pushSignup(),
    pushSignup(),
    handOver(),
    handOver(),
    logOut(),
  ];
  return {
    acknowledged,
    send,
    unexpected,
    async stop() {
      isOver = true;
      await Promise.all(underWay);
    },
  };
}
