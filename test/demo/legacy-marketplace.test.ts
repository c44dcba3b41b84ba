import { expect, it } from 'vitest';
import { codeOf, locationOf, openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);

const lena = {
  id: 'm-1001',
  email: 'lena@example.test',
  name: 'Lena',
  role: 'customer',
  changed: '0',
  age: '0',
};
const submit = (changes: Record<string, string>) =>
  app.send('/demo/legacy-marketplace', { form: { ...lena, ...changes } });

it('the demo of the legacy marketplace leads to a hand-off', async () => {
  const answer = await submit({});
  expect(answer.status).toBe(303);
  expect(locationOf(answer).pathname).toBe('/sso/marketplace/callback');
});

it.each([
  ['too long', { name: 'x'.repeat(9_000) }],
  ['changed at a time that there is not', { changed: '1e300' }],
])(
  'the demo of the legacy marketplace refuses what is %s, and that is no internal error',
  async (_, changes) => {
    const answer = await submit(changes);
    expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
    expect(app.logged.filter(({ level }) => level === 'error')).toEqual([]);
  },
);
