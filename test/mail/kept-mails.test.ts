import { sql } from 'kysely';
import { beforeAll, expect, it, vi } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { shared } from '../support/run/shared.ts';

let id: string;
const app = shared(openApp);
beforeAll(async () => {
  await app.send('/forgot-password', { form: { email: 'customer@example.test' } });
  id = await vi.waitFor(async () => {
    const { rows } = await sql<{ id: string }>`select id from mails where kept_html is not null`.execute(
      app.db,
    );
    expect(rows).toHaveLength(1);
    return rows[0]?.id ?? '';
  }, 10_000);
});

it('shows the text of a kept mail, and its HTML in a frame that can do nothing', async () => {
  const page = await app.send('/dev/mail');
  expect(page.text).toContain(`src="/dev/mail/${id}"`);
  expect(page.headers.get('content-security-policy')).toContain("frame-src 'self'");

  const mail = await app.send(`/dev/mail/${id}`);
  expect([mail.status, mail.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
  expect(mail.text).toContain('Set a new password');
  const policy = mail.headers.get('content-security-policy')?.split('; ') ?? [];
  expect(policy).toContain("default-src 'none'");
  expect(policy.find((each) => each.startsWith('sandbox'))).not.toMatch(/allow-(scripts|same-origin|forms)/);
  expect(policy).toContain("frame-ancestors 'self'");
  expect(mail.headers.get('x-frame-options')).toBe('SAMEORIGIN');
});

it.each([crypto.randomUUID(), 'x', "1'", '..%2f'])('has no mail at /dev/mail/%s', async (other) => {
  expect((await app.send(`/dev/mail/${other}`)).status).toBe(404);
});

it('has none where mails are really sent, and allows no frame there', async () => {
  const env = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'id@example.test' };
  const { send } = await app.startInstance({ env });
  for (const path of ['/dev/mail', `/dev/mail/${id}`]) expect((await send(path)).status).toBe(404);
  expect((await send('/login')).headers.get('content-security-policy')).not.toContain('frame-src');
});
