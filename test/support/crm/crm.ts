// The CRM, which signs with the standard's own library, so that our verifier is not tested against itself.
import { Webhook } from 'standardwebhooks';
import type { Answer, TestApp } from '../app/app.ts';
import { retryWhileBusy } from '../app/patience.ts';

export type Charge = {
  id: string;
  title: string;
  unit_amount: number;
  quantity?: number;
  when: 'now' | 'next';
};

export type SignupBody = {
  signup_id: string;
  occurred_at: string;
  user: { email: string; name: string };
  account: { name: string; billing?: unknown };
  contract: {
    plan: string;
    status: string;
    trial_ends_at?: string;
    cancels_at?: string | null;
    price?: { currency: string; unit_amount: number; interval: string; quantity?: number } | null;
    charges?: Charge[];
  };
};

/** A two-week trial that began a minute before `now`, with a user of its own. */
export function buildSignup(
  signupId: string,
  changes: Partial<SignupBody> = {},
  now = new Date(),
): SignupBody {
  return {
    signup_id: signupId,
    occurred_at: new Date(now.getTime() - 60_000).toISOString(),
    user: { email: `${signupId.toLowerCase()}@example.test`, name: `User ${signupId}` },
    account: { name: `Account ${signupId}` },
    contract: {
      plan: 'starter',
      status: 'trialing',
      trial_ends_at: new Date(now.getTime() + 14 * 24 * 3_600_000).toISOString(),
      price: { currency: 'EUR', unit_amount: 2_900, interval: 'month' },
    },
    ...changes,
  };
}

let serial = 0;
export const freshWebhookId = () => `msg_${Date.now()}_${serial++}`;

/** The headers of a genuine message. */
export function signMessage(
  secret: string,
  body: string,
  { webhookId = freshWebhookId(), at = new Date() }: { webhookId?: string; at?: Date } = {},
): Record<string, string> {
  return {
    'content-type': 'application/json',
    'webhook-id': webhookId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': new Webhook(secret).sign(webhookId, at, body),
  };
}

/** Signs and posts a signup, by default with a new webhook id. */
export async function sendSignup(
  app: Pick<TestApp, 'send' | 'config'>,
  signup: SignupBody | string,
  options: { webhookId?: string; at?: Date; headers?: Record<string, string> } = {},
): Promise<Answer> {
  const body = typeof signup === 'string' ? signup : JSON.stringify(signup);
  const headers = signMessage(app.config.crmSignupsSecrets?.[0] ?? '', body, options);
  return app.send('/integrations/crm/signups', {
    method: 'POST',
    body,
    headers: { ...headers, ...options.headers },
  });
}

/** Sends a signup of one of the CRM's customers, and repeats it after a 503, as the CRM does. Returns the answer to the CRM. */
export async function pushSignup(...[app, signup, options]: Parameters<typeof sendSignup>) {
  const message = { webhookId: freshWebhookId(), ...options };
  const { status, text } = await retryWhileBusy(() => sendSignup(app, signup, message));
  if (status >= 300) throw new Error(`the signup was answered ${status} ${text}`);
  return JSON.parse(text);
}
