// A form has each field one time, and a body is not encoded (contract 9.8 and 9.151), so that all programs read it the same
// way.
import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { codeOf, openApp } from '../support/app/app.ts';
import { isLoggedIn } from '../support/app/visitor.ts';
import { signMessage } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

const email = 'customer@example.test';
const password = 'local demo password';
const urlencoded = { 'content-type': 'application/x-www-form-urlencoded' };

let customer: string;
const app = shared(openApp);
beforeEach(async () => {
  customer = await app.login(email);
});

/** Reads everything that a form could change. */
async function look(): Promise<unknown> {
  const { rows } = await sql`select
    (select json_agg(u order by id) from users u) as users,
    (select json_agg(s order by id) from sessions s) as sessions,
    (select count(*) from mails) as mails,
    (select json_agg(r order by key) from rate_limits r) as tries`.execute(app.db);
  return rows[0];
}

const forms: [path: string, fields: [string, string][]][] = [
  [
    '/login',
    [
      ['email', email],
      ['password', 'wrong'],
      ['password', password],
    ],
  ],
  [
    '/login',
    [
      ['email', email],
      ['password', password],
      ['password', 'wrong'],
    ],
  ],
  [
    '/login',
    [
      ['email', 'nobody@example.test'],
      ['email', email],
      ['password', password],
    ],
  ],
  [
    '/login',
    [
      ['email', email],
      ['password', password],
      ['password', password],
    ],
  ],
  [
    '/login',
    [
      ['email', email],
      ['password', password],
      ['x', '1'],
      ['x', '2'],
    ],
  ],
  [
    '/profile',
    [
      ['intent', 'names'],
      ['name', 'One'],
      ['name', 'Two'],
    ],
  ],
  [
    '/profile/security',
    [
      ['intent', 'password'],
      ['intent', 'names'],
      ['name', 'One'],
    ],
  ],
  [
    '/profile/security',
    [
      ['intent', 'end-others'],
      ['intent', 'end-others'],
    ],
  ],
  [
    '/forgot-password',
    [
      ['email', email],
      ['email', 'merchant@example.test'],
    ],
  ],
  [
    '/set-password?token=x',
    [
      ['newPassword', 'one long password'],
      ['newPassword', 'another long password'],
    ],
  ],
];

describe('a form with a field twice', () => {
  it.each(forms)('is refused at %s, whichever value is right: %j', async (path, fields) => {
    const before = await look();
    const multipart = new FormData();
    for (const [name, value] of fields) multipart.append(name, value);
    for (const body of [new URLSearchParams(fields), multipart]) {
      const answer = await app.send(path, { body, cookie: customer });
      expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_request']);
      expect(answer.headers.get('set-cookie')).toBeNull();
    }
    expect(await look()).toEqual(before);
  });

  it('names the field', async () => {
    const body = new URLSearchParams([
      ['email', email],
      ['password', 'a'],
      ['password', 'b'],
    ]);
    const { errors } = JSON.parse((await app.send('/login', { body })).text);
    expect(errors).toEqual([{ pointer: '/password', detail: 'Send it only once.' }]);
  });
});

describe('a body with a Content-Encoding', () => {
  const names = new URLSearchParams({ intent: 'names', name: 'Encoded', accountName: 'Encoded' });
  const credentials = new URLSearchParams({ email, password });
  const signup = JSON.stringify({ signup_id: 'crm_encoded' });

  it.each(['gzip', 'br', 'identity', 'gzip, gzip', 'nonsense', ''])(
    '"%s" gets 415 everywhere',
    async (encoding) => {
      const before = await look();
      const encoded = { 'content-encoding': encoding };
      const secret = app.config.crmSignupsSecrets?.[0] ?? '';
      for (const [path, body, headers] of [
        ['/login', credentials, urlencoded],
        ['/profile', names, urlencoded],
        ['/logout', '', urlencoded],
        ['/forgot-password', credentials, urlencoded],
        [
          '/trpc/profile.update',
          JSON.stringify({ json: { name: 'Encoded' } }),
          { 'content-type': 'application/json' },
        ],
        ['/sso/marketplace/callback', credentials, urlencoded],
        ['/demo/legacy-marketplace', names, urlencoded],
        ['/integrations/crm/signups', signup, signMessage(secret, signup)],
      ] as const) {
        const answer = await app.send(path, { body, cookie: customer, headers: { ...headers, ...encoded } });
        expect([answer.status, codeOf(answer)], path).toEqual([415, 'unsupported_media_type']);
      }
      expect(await look()).toEqual(before);
      expect(await isLoggedIn(app.send, customer)).toBe(true);
    },
  );
});
