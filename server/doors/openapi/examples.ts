// Builds worked examples: genuine messages of one moment, signed by the service's own code. Their secrets are public, so a
// service in production refuses settings that contain them.

import { buildNudgeSecret } from '../../events/nudge-secret.ts';
import type { Config } from '../../settings/config.ts';
import { sealEnvelope } from '../../sso/envelope.ts';
import type { Payload } from '../../sso/payload.ts';
import { signWebhook } from '../../web/webhook-signature.ts';

export const exampleSecrets = {
  client: 'example-secret-do-not-use-0123456789',
  marketplace: 'example-secret-of-the-marketplace-do-not-use',
  signups: 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=',
  payments: 'whsec_ICEiIyQlJicoKSorLC0uLzAxMjM0NTY3ODk6Ozw9Pj8=',
};

/** The time at which all examples are made, in Unix seconds. */
export const exampleTime = 1_767_225_600;

export const exampleMarketplace = 'https://old-market.example.com';

const userId = '0190f5a0-0000-7000-8000-000000000001';
const accountId = '0190f5a0-0000-7000-8000-000000000002';
const contractId = '0190f5a0-0000-7000-8000-000000000003';
const at = '2026-01-01T00:00:00.000Z';
const later = '2026-01-01T00:01:00.000Z';
const trialEnd = '2026-01-15T00:00:00.000Z';
const state = 'Zk3v0Qm1bX9sT7eW2aLr5g';
const sid = 'Vt1n0cVtSh2mV0y0rU3y8Q';
const price = { currency: 'EUR', unit_amount: 2_900, interval: 'month', quantity: 1 } as const;
const charge = { id: 'setup-1001', title: 'Setup', unit_amount: 10_000, quantity: 1, when: 'now' } as const;

const profile = {
  id: userId,
  email: 'zoe@example.com',
  name: 'Zoë O’Neil',
  role: 'merchant' as const,
  account: { capabilities: ['manage_storefront', 'sell_products'] },
  profile_updated_at: at,
};

const signup = {
  signup_id: 'crm_1001',
  occurred_at: at,
  user: { email: 'zoe@example.com', name: 'Zoë O’Neil' },
  account: { name: 'Zoë’s Flowers' },
  contract: { plan: 'starter', status: 'trialing', trial_ends_at: trialEnd, price },
};

const contract = {
  signup_id: 'crm_1001',
  id: contractId,
  user_id: userId,
  status: 'active' as const,
  plan: 'starter',
  trial_ends_at: null,
  cancels_at: null,
  price,
  occurred_at: later,
};

const answered = {
  ...{
    id: contractId,
    status: 'active' as const,
    plan: 'starter',
    trial_ends_at: null,
    cancels_at: null,
    price,
  },
  ...{ charges: [charge], created: false },
};

const payment = {
  payment_id: 'pay_2001',
  kind: 'payment',
  invoice_number: 'INV-2026-0001',
  amount: { currency: 'EUR', unit_amount: 3_451 },
  paid_at: at,
  method: 'card',
  reference: 'INV-2026-0001 Zoë’s Flowers',
};

const refund = {
  payment_id: 'ref_2002',
  kind: 'refund',
  of: 'pay_2001',
  amount: { currency: 'EUR', unit_amount: 1_000 },
  paid_at: later,
};

const paid = {
  allocated: 3_451,
  unallocated: 0,
  invoice: { number: 'INV-2026-0001', status: 'paid' as const, open: 0 },
};

export type Worked = Awaited<ReturnType<typeof buildExamples>>;

export async function buildExamples({ issuer }: Pick<Config, 'issuer'>) {
  const payload: Payload = {
    iss: issuer,
    aud: 'shop',
    iat: exampleTime,
    exp: exampleTime + 300,
    nonce: 'AAECAwQFBgcICQoLDA0ODw',
    client: 'shop',
    sid,
    auth_time: exampleTime - 10,
    amr: ['pwd'],
    profile,
    state,
    return_to: '/orders',
  };
  const inbound = {
    iss: exampleMarketplace,
    aud: issuer,
    iat: exampleTime,
    exp: exampleTime + 300,
    nonce: 'EBESExQVFhcYGRobHB0eHw',
    client: 'marketplace',
    profile: { ...profile, id: '4711', email: 'mia@example.com', name: 'Mia Market' },
  };
  const nudge = { client: 'shop', latest: 17 };
  const reported = {
    ...signup,
    occurred_at: later,
    contract: { plan: 'starter', status: 'active', price, charges: [charge] },
  };
  const nudgeSecret = await buildNudgeSecret('shop', exampleSecrets.client);
  return {
    state,
    profile,
    payload,
    handOff: await sealEnvelope(payload, [exampleSecrets.client]),
    inbound,
    inboundHandOff: await sealEnvelope(inbound, [exampleSecrets.marketplace]),
    /** The second report of the same signup says that the trial became active. */
    signups: {
      trial: await signExample(exampleSecrets.signups, 'msg_1001', signup),
      active: await signExample(exampleSecrets.signups, 'msg_1002', reported),
    },
    signupAnswers: {
      trial: {
        signup_id: 'crm_1001',
        applied: true,
        user: { id: userId, created: true },
        account: { id: accountId, created: true },
        contract: {
          id: contractId,
          status: 'trialing',
          plan: 'starter',
          trial_ends_at: trialEnd,
          cancels_at: null,
          price,
          charges: [],
          created: true,
        },
      },
      active: {
        signup_id: 'crm_1001',
        applied: true,
        user: { id: userId, created: false },
        account: { id: accountId, created: false },
        contract: answered,
      },
      older: {
        signup_id: 'crm_1001',
        applied: false,
        reason: 'older',
        user: { id: userId, created: false },
        account: { id: accountId, created: false },
        contract: answered,
      },
    },
    payments: {
      payment: await signExample(exampleSecrets.payments, 'msg_2001', payment),
      refund: await signExample(exampleSecrets.payments, 'msg_2002', refund),
    },
    paymentAnswers: {
      payment: { ...paid, payment_id: 'pay_2001', applied: true },
      refund: {
        ...{ payment_id: 'ref_2002', applied: true, allocated: 0, unallocated: 0 },
        invoice: null,
      },
      known: { ...paid, payment_id: 'pay_2001', applied: false },
    },
    /** This request is signed with an empty body. */
    invoicesAsked: await signText(exampleSecrets.payments, 'msg_2003', ''),
    changedInvoices: {
      invoices: [
        {
          ...{
            number: 'INV-2026-0002',
            status: 'open' as const,
            currency: 'EUR',
            amount: 15_351,
            open: 15_351,
          },
          ...{ due_on: '2026-01-15', buyer: 'Zoë’s Flowers', signup_id: 'crm_1001', account_id: accountId },
        },
      ],
      next: '0-2',
    },
    contracts: { contracts: [contract], next: contractId },
    events: {
      events: [
        { seq: 1, type: 'profile.updated', occurred_at: at, user_id: userId, profile },
        { seq: 2, type: 'session.ended', occurred_at: later, user_id: userId, sid },
        { seq: 3, type: 'erased' },
      ],
      latest: 3,
    },
    nudge: await signExample(nudgeSecret, 'shop_17', nudge),
  };
}

export type SignedExample = { body: object; headers: Record<string, string> };

/** Signs the JSON without spaces. */
async function signExample(secret: string, id: string, body: object): Promise<SignedExample> {
  return { body, headers: await signText(secret, id, JSON.stringify(body)) };
}

async function signText(secret: string, id: string, text: string) {
  const timestamp = String(exampleTime);
  const bytes = new TextEncoder().encode(text);
  const signature = await signWebhook(secret, { id, timestamp, body: bytes });
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
}
