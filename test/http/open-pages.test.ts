// Until 1.1.0: an open page of 0.6.0 fetches its data alone, at the path of the page with `.data`.
import { sql } from 'kysely';
import { beforeAll, expect, it } from 'vitest';
import { openApp, type SendOptions } from '../support/app/app.ts';
import { named, type TestRequest } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const form = { email: 'merchant@example.test', password: 'local demo password' };

let cookie: string;
const app = shared(openApp);
beforeAll(async () => {
  cookie = await app.login(form.email);
});

const visitorOf = (path: string) => (path === '/login.data' ? undefined : cookie);

it.each<[string, string, number, SendOptions]>([
  ['/login.data', 'a wrong password', 401, { form: { ...form, password: 'wrong' } }],
  ['/login.data', 'a suspended user', 403, { form: { ...form, email: 'suspended@example.test' } }],
  ['/login.data', 'JSON', 415, { json: form }],
  ['/profile.data', 'a missing name', 422, { form: { intent: 'names', name: '', accountName: 'A' } }],
  [
    '/profile/security.data',
    'the end of an unknown session',
    404,
    { form: { intent: 'end-session', id: crypto.randomUUID() } },
  ],
  ['/profile.data', 'an unknown intent', 400, { form: { intent: 'delete' } }],
])('%s refuses %s with %i, as the page itself does', async (path, _what, status, options) => {
  const answers = await Promise.all([
    app.send(path, { cookie: visitorOf(path), ...options }),
    app.send(path.replace('.data', ''), { cookie: visitorOf(path), ...options }),
  ]);
  expect(answers.map((answer) => answer.status)).toEqual([status, status]);
});

const pages: TestRequest[] = [
  ['/profile.data', {}],
  ['/profile/security.data', {}],
  ['/profile.data', { form: { intent: 'names', name: 'Maya', accountName: 'Maya’s' } }],
  ['/login.data', { form }],
  ['/verify-email.data', {}],
];

it.each(named(pages))('the answer to %s is never cached', async (_, path, options) => {
  const answer = await app.send(path, { cookie: visitorOf(path), ...options });
  expect(answer.headers.get('cache-control')).toBe('no-store');
});

it('a login from an open page never leads to another site', async () => {
  for (const next of ['//evil.example', '/\\evil.example', 'https://evil.example']) {
    const answer = await app.send(`/login.data?${new URLSearchParams({ next })}`, { form });
    expect(answer.headers.get('location')).toBe('/profile');
    expect(answer.text).not.toContain('evil');
  }
});

it.each(['/sso/profile.data', '/_root.data?_routes=routes%2Fsso.profile', '/trpc/profile.get.data'])(
  '%s does not reach a public endpoint',
  async (path) => {
    const answer = await app.send(path, { cookie });
    expect(answer.text).not.toContain('profile_updated_at');
    expect((await app.send(path)).status).toBeLessThan(500);
  },
);

it('an internal error behind an open page is logged', async () => {
  await sql`alter table audit_events rename to audit_events_away`.execute(app.db);
  const names = { intent: 'names', name: 'Half', accountName: 'Done' };
  const answer = await app.send('/profile.data', { cookie, form: names });
  await sql`alter table audit_events_away rename to audit_events`.execute(app.db);
  expect(answer.status).toBe(500);
  expect(answer.text).not.toContain('audit_events');
  expect(app.logged.filter(({ level }) => level === 'error')).toMatchObject([
    { fields: { requestId: answer.headers.get('x-request-id'), code: 'internal_error' } },
  ]);
});
