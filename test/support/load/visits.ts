// People and systems that use several instances only over HTTP. As behind a balancer, each request goes to any instance, and is
// sent again if a busy machine answers 503.
import { sql } from 'kysely';
import { readConfig } from '../../../server/settings/config.ts';
import type { Answer, SendOptions, TestApp } from '../app/app.ts';
import { openBrowser } from '../app/visitor.ts';
import { buildPayment, sendReport } from '../billing/money.ts';
import { buildSignup, freshWebhookId, sendSignup } from '../crm/crm.ts';
import { connect } from '../database/postgres.ts';
import { pull } from '../events/events.ts';
import { buildHandOff } from '../marketplace/marketplace.ts';

export type Visits = {
  /** The ports of the instances. Tests may add and remove ports. */
  ports: number[];
  failed: string[];
  /** Resolves when each kind of visit was made that many times more, or when one visit has failed. */
  see: (times: number) => Promise<void>;
  stop: () => Promise<void>;
};

const newPassword = 'seven quiet lanterns';
const html = { accept: 'text/html' };

/** Starts the visits. `env` is that of the instances, in local mode. Allowances must be lifted, and there must be a seller. */
export function startVisits(env: Record<string, string>, firstPorts: number[]): Visits {
  const config = readConfig(env);
  const ports = [...firstPorts];
  const { db, close } = connect(env.DATABASE_URL ?? '');
  const done: Record<string, number> = {};
  const failed: string[] = [];
  let isOver = false;
  let serial = 0;

  const sendTo = async (port: number, path: string, options: SendOptions = {}): Promise<Answer> => {
    const headers = new Headers(options.headers);
    const from = `10.${++serial % 250}.${Math.floor(serial / 250) % 250}.1`;
    headers.set('x-forwarded-for', from);
    headers.set('origin', config.baseUrl);
    if (options.cookie) headers.set('cookie', options.cookie);
    if (options.json !== undefined) headers.set('content-type', 'application/json');
    const body =
      options.body ??
      (options.form && new URLSearchParams(options.form)) ??
      (options.json === undefined ? undefined : JSON.stringify(options.json));
    const method = options.method ?? (body === undefined ? 'GET' : 'POST');
    const url = new URL(path, `http://localhost:${port}`);
    const ask = async (): Promise<Answer> => {
      const response = await fetch(url, { method, headers, body, redirect: 'manual' });
      return { status: response.status, headers: response.headers, text: await response.text() };
    };
    let answer = await ask();
    // The service may be busy, or still at work on a request that was given up. So this tries again.
    for (let tries = 0; tries < 20 && /"(unavailable|request_in_progress)"/.test(answer.text); tries++) {
      await new Promise((ready) => setTimeout(ready, 100));
      answer = await ask();
    }
    if (answer.status >= 500)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 300)}`);
    return answer;
  };
  const anyPort = () => ports[Math.floor(Math.random() * ports.length)] as number;
  const send: TestApp['send'] = (path, options) => sendTo(anyPort(), path, options);
  const instance = { send, config };

  /** Returns the path of the link in the newest mail to an email address. */
  async function readLink(email: string, path: string): Promise<string> {
    for (let tries = 0; tries < 600; tries++) {
      const { rows } = await sql<{ kept_text: string }>`select kept_text from mails
        where recipient = ${email} and kept_text like ${`%${path}%`} order by id desc limit 1`.execute(db);
      const link = new RegExp(`${path}\\?\\S+`).exec(rows[0]?.kept_text ?? '')?.[0];
      if (link) return link;
      await new Promise((ready) => setTimeout(ready, 50));
    }
    throw new Error(`no mail with ${path} came to ${email}`);
  }

  const kinds: Record<string, () => Promise<void>> = {
    async person() {
      const browser = openBrowser(send);
      const name = `Name ${++serial}`;
      expectStatus(await browser.login('merchant@example.test'), 303);
      expectStatus(await browser.send('/sso/launch/marketplace'), 303);
      expectStatus(
        await browser.send('/profile', { form: { intent: 'names', name, accountName: name } }),
        303,
      );
      expectStatus(await browser.send('/trpc/profile.update', { json: { json: { name } } }), 200);
      for (const page of ['', '/security', '/activity', '/products', '/billing', '/data'])
        expectStatus(await browser.send(`/profile${page}`, { headers: html }), 200);
      const cookie = browser.cookie();
      expectStatus(await browser.send('/logout', { form: {} }), 303);
      for (const port of ports) expectStatus(await sendTo(port, '/sso/profile', { cookie }), 401);
    },
    async 'wrong password'() {
      const browser = openBrowser(send);
      const form = { email: `nobody-${++serial}@example.test`, password: 'wrong' };
      expectStatus(await browser.send('/login', { form, headers: html }), 401);
    },
    async 'sign-up'() {
      const browser = openBrowser(send);
      const email = `new-${++serial}@example.test`;
      expectStatus(await browser.send('/signup', { form: { name: 'Nia New', email } }), 303);
      const link = await readLink(email, '/signup/confirm');
      expectStatus(await browser.send(link, { headers: html }), 200);
      expectStatus(await browser.send(link, { form: { name: 'Nia New', newPassword } }), 303);
      expectEqual(await browser.whoAmI(), email);
    },
    async 'signup and first password'() {
      const signup = buildSignup(`visit-${++serial}`);
      const webhookId = freshWebhookId();
      // The CRM did not get the first answer, so it sends again.
      const answers = [
        await sendSignup(instance, signup, { webhookId }),
        await sendSignup(instance, signup, { webhookId }),
      ];
      expectEqual(answers[1]?.text, answers[0]?.text);
      expectStatus(answers[0] as Answer, 201);
      const { email } = signup.user;
      const browser = openBrowser(send);
      const link = await readLink(email, '/set-password');
      expectStatus(await browser.send(link, { form: { newPassword } }), 303);
      expectStatus(await openBrowser(send).login(email, newPassword), 303);
    },
    async 'hand-off'() {
      const url = await buildHandOff({ config } as TestApp, { id: `visit-${++serial}` });
      const answers = await Promise.all(Array.from({ length: 4 }, () => send(url)));
      expectEqual(answers.filter(({ status }) => status === 303).length, 1);
    },
    // All instances issue invoices at the same moment. A second report invoices the period that has begun.
    async contract() {
      const reportAt = (port: number, signupId: string, plan: string, at?: Date) => {
        const signup = buildSignup(signupId, {}, at);
        const { price } = signup.contract;
        const send: TestApp['send'] = (path, options) => sendTo(port, path, options);
        return sendSignup({ config, send }, { ...signup, contract: { plan, status: 'active', price } });
      };
      const issueAt = async (port: number) => {
        const signupId = `billed-${++serial}`;
        expectStatus(await reportAt(port, signupId, 'starter'), 201);
        const later = new Date(Date.now() + 30_000);
        expectStatus(await reportAt(port, signupId, 'team', later), 200);
        const { rows } = await sql<{ document: string }>`select document from invoices
          where contract_id = (select id from service_contracts where signup_id = ${signupId})`.execute(db);
        expectEqual(rows.length, 1);
        return rows[0]?.document;
      };
      for (const invoice_number of await Promise.all(ports.map(issueAt))) {
        const payment = buildPayment(3_451, { invoice_number });
        const answers = await Promise.all([sendReport(instance, payment), sendReport(instance, payment)]);
        expectEqual(answers.filter(({ status }) => status === 201).length, 1);
        for (const { text } of answers) expectEqual(JSON.parse(text).invoice?.status ?? text, 'paid');
      }
    },
    async events() {
      const { latest } = await pull(instance, 'marketplace', '?after=0&limit=1');
      const after = Math.max(0, latest - 20);
      const { events } = await pull(instance, 'marketplace', `?after=${after}`);
      expectEqual(events.map(({ seq }) => seq).join(), events.map((_, n) => after + 1 + n).join());
    },
  };

  const repeat = async (kind: string, visit: () => Promise<void>) => {
    while (!isOver) {
      await visit().then(
        () => {
          done[kind] = (done[kind] ?? 0) + 1;
        },
        (error) => failed.push(`${kind}: ${error.cause ?? error.message}`),
      );
      await new Promise((ready) => setTimeout(ready, 20));
    }
  };
  const underWay = Object.entries(kinds).map(([kind, visit]) => repeat(kind, visit));
  return {
    ports,
    failed,
    async see(times) {
      const before = { ...done };
      const isSeen = (kind: string) => (done[kind] ?? 0) >= (before[kind] ?? 0) + times;
      while (failed.length === 0 && !Object.keys(kinds).every(isSeen))
        await new Promise((ready) => setTimeout(ready, 20));
    },
    async stop() {
      isOver = true;
      await Promise.all(underWay);
      await close();
    },
  };
}

function expectStatus({ status, text }: Answer, expected: number): void {
  if (status !== expected) throw new Error(`${status} instead of ${expected}: ${text.slice(0, 300)}`);
}

function expectEqual(one: unknown, other: unknown): void {
  if (one !== other) throw new Error(`${one} instead of ${other}`);
}
