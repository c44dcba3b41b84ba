// Contract 9.19: a logout clears only our caches in the browser, because clearing cookies and storage can take seconds.
import { beforeEach, describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { sessionIdOf } from '../support/app/trpc.ts';
import { isLoggedIn } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const email = 'merchant@example.test';

let cookie: string;
const app = shared(openApp);
beforeEach(async () => {
  cookie = await app.login(email);
});

describe('the answer clears the cache', () => {
  it('when somebody logs out', async () => {
    const answer = await app.send('/logout', { method: 'POST', cookie });
    expect(answer.headers.get('clear-site-data')).toBe('"cache"');
    expect(await isLoggedIn(app.send, cookie)).toBe(false);
  });

  it('when somebody ends one session, or all others, on the profile', async () => {
    const endOne = { intent: 'end-session', id: await sessionIdOf(app.send, await app.login(email)) };
    for (const form of [endOne, { intent: 'end-others' }]) {
      const answer = await app.send('/profile/security', { cookie, form });
      expect([answer.status, answer.headers.get('clear-site-data')]).toEqual([303, '"cache"']);
    }
  });

  it('when a program of our own origin ends them', async () => {
    const json = { json: { id: await sessionIdOf(app.send, await app.login(email)) } };
    for (const [path, body] of [
      ['/trpc/sessions.end', json],
      ['/trpc/sessions.endOthers', {}],
    ] as const) {
      const answer = await app.send(path, { cookie, json: body });
      expect([answer.status, answer.headers.get('clear-site-data')]).toEqual([200, '"cache"']);
    }
  });
});

it('no other answer clears anything, least of all one on the way to a product or from another site', async () => {
  const headers = { origin: 'https://evil.example' };
  for (const answer of await Promise.all([
    app.send('/logout', { cookie }),
    app.send('/logout', { method: 'POST', cookie, headers }),
    app.send('/profile/security', { cookie, form: { intent: 'end-others' }, headers }),
    app.send('/profile/security', { cookie, form: { intent: 'end-session', id: 'nonsense' } }),
    app.send('/profile', { cookie }),
    app.send('/profile/security', { cookie }),
    app.send('/profile', { cookie, form: { intent: 'names', name: 'Maya Merchant' } }),
    app.send('/sso/launch/crm_app', { cookie }),
    app.send('/sso/launch/crm_app'),
    app.send('/login', { form: { email, password: 'local demo password' } }),
  ]))
    expect(answer.headers.get('clear-site-data')).toBeNull();
});
