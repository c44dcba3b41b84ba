import { sql } from 'kysely';
import { beforeEach, describe, expect, it } from 'vitest';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { openClient } from '../support/app/trpc.ts';
import { cookieOf, fieldOf, submitProfile, textOf } from '../support/app/visitor.ts';
import { quote, quoted } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

const password = 'local demo password';
const newPassword = 'quite another long password';

let cookie: string;
const app = shared(() => openApp({ env: { SSO_CLIENTS: 'loyalty_cards', SSO_CRM_LISTED: 'everybody' } }));
beforeEach(async () => {
  cookie = await app.login('merchant@example.test');
});

const view = async (email: string) => textOf(await app.send('/profile', { cookie: await app.login(email) }));
const pages = ['/profile', '/profile/security', '/profile/products', '/profile/billing'];
const post = (form: Record<string, string>, path = '/profile') => app.send(path, { cookie, form });
const saveNames = (name: string, accountName = 'Maya’s account') =>
  post({ intent: 'names', name, accountName });
const readNames = async () => {
  const { name, accountName } = await openClient(app.send, cookie).profile.get.query();
  return { name, accountName };
};

/** Expects 422, with `field` marked as invalid and described by `message`. */
function expectRefusedAt(answer: Answer, field: string, message: RegExp): void {
  expect(answer.status).toBe(422);
  const { isInvalid, descriptions } = fieldOf(answer, field);
  expect(isInvalid).toBe(true);
  expect(descriptions.some((description) => message.test(description))).toBe(true);
}

describe('the link to open a product', () => {
  const hrefOf = ({ text }: Answer, title: string) =>
    new RegExp(`<a href="([^"]*)"[^>]*>Open<span[^>]*> (?:<!-- -->)?${title}</span>`).exec(text)?.[1];

  it('leads to its own login where that is configured, else to a launch', async () => {
    const env = {
      SSO_CRM_LOGIN_URL: 'http://crm.localhost:4000/login?from=identity&x=1',
      SSO_CRM_LISTED: 'everybody',
    };
    const { send } = await app.startInstance({ env });
    const page = await send('/profile/products', { cookie });
    expect(hrefOf(page, 'CRM app')).toBe('http://crm.localhost:4000/login?from=identity&amp;x=1');
    expect(hrefOf(page, 'Marketplace')).toBe('/sso/launch/marketplace');
    expect(hrefOf(await app.send('/profile/products', { cookie }), 'CRM app')).toBe('/sso/launch/crm_app');
  });
});

it.each(['/profile', '/profile/passkeys', '/profile/security'])(
  '%s takes any word for what was saved, also one that each object has',
  async (path) => {
    for (const word of ['__proto__', 'constructor', 'toString'])
      expect((await app.send(`${path}?saved=${word}`, { cookie })).status).toBe(200);
  },
);

describe('the profile page without a session', () => {
  it.each([...pages, '/profile?saved=names&x=%26'])(
    'leads from %s to the login, and back after it',
    async (path) => {
      const answer = await app.send(path, { headers: { accept: 'text/html' } });
      expect(answer.status).toBe(303);
      expect(answer.headers.get('location')).toBe(`/login?next=${encodeURIComponent(path)}`);
    },
  );

  it('saves nothing from its forms, and leads to the login', async () => {
    const names = await readNames();
    await app.send('/logout', { method: 'POST', cookie });
    const answer = await saveNames('Lost');
    expect(answer.status).toBe(303);
    expect(locationOf(answer).searchParams.get('next')).toBe('/profile');
    cookie = await app.login('merchant@example.test');
    expect(await readNames()).toEqual(names);
  });

  it('never claims later that it saved what was lost', async () => {
    await app.send('/logout', { method: 'POST', cookie });
    const form = { intent: 'names', name: 'Lost', accountName: 'Lost' };
    // After an earlier edit, the page has this URL and its form posts to it.
    const answer = await app.send('/profile?saved=names', { cookie, form });
    expect(answer.status).toBe(303);
    expect(decodeURIComponent(answer.headers.get('location') ?? '')).not.toContain('saved');
  });
});

describe('the profile page', () => {
  it('explains the role and the capabilities', async () => {
    const merchant = await view('merchant@example.test');
    expect(merchant).toMatch(/Merchant . You can sell/);
    expect(merchant).toMatch(/Manage a storefront Your account has its own shop\. Active Sell products/);
    expect(merchant).not.toContain('Waiting for verification');
    expect(await view('new-merchant@example.test')).toMatch(
      /Sell products [^.]*\. You can do this once we have verified your account\. Waiting for verification/,
    );
    expect(await view('customer@example.test')).toMatch(/Customer . You can use our products and buy/);
    for (const email of ['manager@example.test', 'admin@example.test'])
      expect(await view(email)).toMatch(/Administrator . You manage/);
  });

  it('lists the products, each with a link that opens it', async () => {
    const { text } = await app.send('/profile/products', { cookie });
    const links = [...text.matchAll(/href="(\/sso\/launch\/[^"]+)"/g)].map(([, path]) => path);
    expect(links).toEqual(
      ['marketplace', 'network_site', 'crm_app', 'loyalty_cards'].map((c) => `/sso/launch/${c}`),
    );
  });

  it('asks for a verified address where there is none', async () => {
    expect(await view('unverified@example.test')).toContain('You need to verify your email address');
    expect(await view('customer@example.test')).not.toContain('You need to verify your email address');
  });

  it.each([
    ['zoë@xn--bcher-kva.example', 'zoë@bücher.example'],
    // The first letter of this domain is Cyrillic, not Latin.
    ['a@xn--pple-43d.example', 'a@аpple.example'],
    ['b@xn--80ak6aa92e.example', 'b@аррӏе.example'],
  ])('shows %s as people write it, and as it is (contract 9.11 and 9.267)', async (email, spelled) => {
    await sql`update users set email = ${email} where email = 'merchant@example.test'`.execute(app.db);
    const text = textOf(await app.send('/profile', { cookie }));
    await sql`update users set email = 'merchant@example.test' where email = ${email}`.execute(app.db);
    expect(text).toContain(spelled);
    expect(text).toContain(`Mail servers write it as ${email}`);
  });

  it.each(['plain@example.test', 'odd@xn--a.example'])('shows %s once', async (email) => {
    await sql`update users set email = ${email} where email = 'merchant@example.test'`.execute(app.db);
    const text = textOf(await app.send('/profile', { cookie }));
    await sql`update users set email = 'merchant@example.test' where email = ${email}`.execute(app.db);
    expect(text).toContain(email);
    expect(text).not.toContain('Mail servers write it');
  });

  it.each(pages)('is never cached: %s', async (path) => {
    const answer = await app.send(path, { cookie });
    expect([answer.status, answer.headers.get('cache-control')]).toEqual([200, 'no-store']);
  });
});

describe('a name on the profile page', () => {
  it('is trimmed, saved and shown', async () => {
    const answer = await saveNames('  Zoë O’Neil\u00a0', '\tZoë’s <Flowers> & "more"\n');
    expect(answer.status).toBe(303);
    expect(answer.headers.get('location')).toBe('/profile?saved=names');
    const page = await app.send('/profile?saved=names', { cookie });
    expect(textOf(page)).toContain('Saved.');
    expect(fieldOf(page, 'name')).toEqual({ value: 'Zoë O’Neil', isInvalid: false, descriptions: [] });
    expect(fieldOf(page, 'accountName').value).toBe('Zoë’s <Flowers> & "more"');
    expect(await readNames()).toEqual({ name: 'Zoë O’Neil', accountName: 'Zoë’s <Flowers> & "more"' });
  });

  it.each(quoted(['X', '李', '👩‍👩‍👧‍👦', 'عائشة', 'N'.repeat(200), '😀'.repeat(200)]))(
    'may be %s',
    async (_, name) => {
      expect((await saveNames(name, name)).status).toBe(303);
      expect(await readNames()).toEqual({ name, accountName: name });
    },
  );

  const refused: [string, RegExp][] = [
    ['', /Enter a name/],
    [' \t\u00a0\n', /Enter a name/],
    ['\u200b', /Enter a name/],
    ['\u3164 \u2800', /Enter a name/],
    ['N'.repeat(201), /200 characters/],
    ['😀'.repeat(201), /200 characters/],
    ['a\u0000b', /cannot be shown/],
    ['a\u0007b', /cannot be shown/],
    ['a\nb', /cannot be shown/],
    ['a\u007fb', /cannot be shown/],
    ['a\u0085b', /cannot be shown/],
    ['a\u2028b', /cannot be shown/],
    ['a\u202eb', /cannot be shown/],
    ['a\u202ab', /cannot be shown/],
    ['a\u2066b', /cannot be shown/],
  ];

  it.each(refused.map((row) => [quote(row[0]), ...row] as const))(
    'may not be %s',
    async (_, value, message) => {
      const names = await readNames();
      const answer = await saveNames(value, value);
      expectRefusedAt(answer, 'name', message);
      expectRefusedAt(answer, 'accountName', message);
      expect(await readNames()).toEqual(names);
    },
  );

  it('stays in the form as typed if the other is refused, and neither is saved', async () => {
    const names = await readNames();
    const answer = await saveNames('Typed "in" <full>', '');
    expectRefusedAt(answer, 'accountName', /Enter a name/);
    expect(fieldOf(answer, 'name')).toEqual({
      value: 'Typed "in" <full>',
      isInvalid: false,
      descriptions: [],
    });
    expect(fieldOf(answer, 'accountName').value).toBe('');
    expect(await readNames()).toEqual(names);
  });

  it('is shown as text, whatever it looks like', async () => {
    const name = `</script><script>alert(1)</script>"'><img src=x onerror=alert(1)>&amp;{{7*7}}<!--`;
    await saveNames(name, name);
    const saved = await app.send('/profile', { cookie });
    const refused = await post({ intent: 'names', name, accountName: '' });
    for (const page of [saved, refused]) {
      expect(page.text).not.toMatch(/<script>alert|<img src=x|<\/script><script>alert/);
      expect(fieldOf(page, 'name').value).toBe(name);
    }
  });
});

describe('a password change on the profile page', () => {
  const change = (currentPassword: string, chosen: string) =>
    post({ intent: 'password', currentPassword, newPassword: chosen }, '/profile/security');

  const refused: [string, string, string, RegExp][] = [
    ['wrong', newPassword, 'currentPassword', /not your current password/],
    ['', newPassword, 'currentPassword', /not your current password/],
    [password, 'eleven char', 'newPassword', /at least 12 characters/],
    [password, '', 'newPassword', /at least 12 characters/],
    // Both passwords have eleven characters. JavaScript counts 22 in the first. The second has 22 before it is normalized
    // (NFKC).
    [password, '🦊🐢🐙🦉🐝🐳🦔🐌🐘🐪🦋', 'newPassword', /at least 12 characters/],
    [password, 'éüöäïÿñõçàè'.normalize('NFD'), 'newPassword', /at least 12 characters/],
    [password, 'x1Y-'.repeat(33), 'newPassword', /128 characters/],
    [password, password, 'newPassword', /your current password/],
    [password, 'ｌｏｃａｌ demo password', 'newPassword', /your current password/],
    // The answer must not tell that somebody guessed the password.
    ['seven quiet lanterns', 'seven quiet lanterns', 'currentPassword', /not your current password/],
    [password, 'password1234', 'newPassword', /too easy to guess/],
    [password, 'qwertyuiop12', 'newPassword', /too easy to guess/],
  ];

  // Contract 9.223.
  it.each(refused.map((row) => [quote(row[0]), quote(row[1]), row[2], row] as const))(
    'from %s to %s is refused at the field %s',
    async (_current, _chosen, _field, row) => {
      const [current, chosen, field, message] = row;
      const answer = await change(current, chosen);
      expectRefusedAt(answer, field, message);
      expect(answer.headers.getSetCookie()).toEqual([]);
      for (const name of ['currentPassword', 'newPassword'])
        expect(fieldOf(answer, name).value).toBeUndefined();
      if (chosen !== '') expect(answer.text).not.toContain(chosen);
      await app.login('merchant@example.test', password);
    },
  );

  it('works with any twelve characters in any script, and is confirmed', async () => {
    const chosen = 'пароль подлиннее 密码';
    const form = { intent: 'password', currentPassword: password, newPassword: chosen };
    expect(textOf(await submitProfile(app.send, cookie, form))).toContain('Your password has been changed');
    cookie = await app.login('merchant@example.test', chosen);
    expect((await change(chosen, password)).status).toBe(303);
  });

  it('leaves no password in the log or the audit trail, even when refused', async () => {
    await change('a wrong present one', newPassword);
    const changed = await change(password, newPassword);
    cookie = cookieOf(changed);
    await change(newPassword, password);
    const { rows } = await sql<{ trail: string }>`
      select string_agg(row_to_json(e)::text, '') as trail from audit_events e`.execute(app.db);
    const everything = rows[0]?.trail + JSON.stringify(app.logged);
    for (const secret of ['a wrong present one', newPassword, password])
      expect(everything).not.toContain(secret);
    expect(rows[0]?.trail).toMatch(/password\.refused.*wrong_password.*password\.changed/);
  });
});

it.each(
  ['/profile', '/profile/security'].flatMap((path) =>
    ['', 'delete', 'constructor', 'toString'].map((intent) => [path, intent] as const),
  ),
)('%s answers 400 to the unknown intent %j', async (path, intent) => {
  const answer = await post({ intent, name: 'X', accountName: 'X' }, path);
  expect(answer.status).toBe(400);
  expect(JSON.parse(answer.text)).toMatchObject({
    code: 'invalid_request',
    errors: [{ pointer: '/intent' }],
  });
});
