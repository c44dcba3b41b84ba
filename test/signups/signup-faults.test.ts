// Contract 7.42: one answer names everything that is wrong with a signup.
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { buildSignup, sendSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const signup = buildSignup('faults');
const soon = () => new Date(Date.now() + 3_600_000).toISOString();

const send = (message: unknown) => sendSignup(app, JSON.stringify(message));

async function pointersOf(changes: object, contract: object): Promise<string[]> {
  const answer = await send({ ...signup, ...changes, contract: { plan: 'pro', ...contract } });
  expect(answer.status, answer.text).toBe(422);
  return JSON.parse(answer.text).errors.map(({ pointer }: { pointer: string }) => pointer);
}

it('a missing end of the trial is named with all other faults', async () => {
  const wrong = { signup_id: 'a b', occurred_at: soon(), user: { email: 'nobody', name: '' }, account: {} };
  const rest = ['/account/name', '/contract/plan', '/occurred_at', '/signup_id', '/user/email', '/user/name'];
  for (const nothing of [{}, { trial_ends_at: null }])
    for (const plan of [undefined, 5, 'A B'])
      expect((await pointersOf(wrong, { ...nothing, plan, status: 'trialing' })).sort()).toEqual(
        ['/contract/trial_ends_at', ...rest].sort(),
      );
  // Each fault is named one time. A wrong end of a trial is not reported as missing, too, and only a trial needs an end.
  expect(await pointersOf({}, { status: 'trialing', plan: 'A', trial_ends_at: '' })).toEqual([
    '/contract/plan',
    '/contract/trial_ends_at',
  ]);
  expect(await pointersOf({}, { status: 'active', plan: 'A B' })).toEqual(['/contract/plan']);
  expect(await pointersOf({}, { status: 'trial', plan: 'A B' })).toEqual([
    '/contract/plan',
    '/contract/status',
  ]);
});

it('an end of the trial before its beginning is named with all other faults', async () => {
  const early = { status: 'trialing', trial_ends_at: '2026-01-01T00:00:00Z' };
  expect(await pointersOf({ account: {} }, early)).toEqual(['/account/name', '/contract/trial_ends_at']);
  expect(await pointersOf({ occurred_at: 'now', account: {} }, early)).toEqual([
    '/occurred_at',
    '/account/name',
  ]);
});

it.each([null, 'x', 1, [], {}])(
  'a contract that is %j is a fault, and no error of ours',
  async (contract) => {
    const answer = await send({ ...signup, contract });
    expect(answer.status).toBe(422);
    const whole = await send(contract);
    expect(whole.status).toBe(422);
  },
);
