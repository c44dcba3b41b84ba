// Plays the CRM for the command line: signs a signup message and posts it to a running service.
import { v7 as uuidv7 } from 'uuid';
import { daysAfter } from '../../basics/instant.ts';
import { signWebhook } from '../../web/webhook-signature.ts';

type DemoSignup = {
  signupId?: string;
  email: string;
  name: string;
  accountName?: string;
  plan: string;
  status: string;
  trialDays: number;
  price?: { currency: string; unitAmount: number; interval: string };
};

/** Throws a TypeError if nothing answers, as fetch does. */
export async function sendSignup(
  { url, secret }: { url: string; secret: string },
  signup: DemoSignup,
  now: Date,
): Promise<{ status: number; text: string }> {
  const trialEndsAt = daysAfter(now, signup.trialDays);
  const body = new TextEncoder().encode(
    JSON.stringify({
      signup_id: signup.signupId ?? `cli_${uuidv7()}`,
      occurred_at: now.toISOString(),
      user: { email: signup.email, name: signup.name },
      account: { name: signup.accountName ?? signup.name },
      contract: {
        plan: signup.plan,
        status: signup.status,
        ...(signup.status === 'trialing' && { trial_ends_at: trialEndsAt.toISOString() }),
        ...(signup.price && {
          price: {
            currency: signup.price.currency,
            unit_amount: signup.price.unitAmount,
            interval: signup.price.interval,
          },
        }),
      },
    }),
  );
  const message = { id: `msg_${uuidv7()}`, timestamp: String(Math.floor(now.getTime() / 1_000)), body };
  const response = await fetch(`${url}/integrations/crm/signups`, {
    method: 'POST',
    body,
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': message.id,
      'webhook-timestamp': message.timestamp,
      'webhook-signature': await signWebhook(secret, message),
    },
  });
  return { status: response.status, text: await response.text() };
}
