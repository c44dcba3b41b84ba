import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { faultsOf, production } from '../support/app/settings.ts';
import { openClient } from '../support/app/trpc.ts';
import { cookieOf, openBrowser, textOf } from '../support/app/visitor.ts';
import { shared } from '../support/run/shared.ts';

const header = 'cf-ipcity';
const form = { email: 'merchant@example.test', password: 'local demo password' };
const proxy = '10.0.0.1';
const iphone =
  'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';

const app = shared(() =>
  openApp({ env: { TRUSTED_PROXIES: '10.0.0.0/8', IDENTITY_PLACE_HEADER: 'CF-IPCity' } }),
);

/** Logs in with that header from that peer, and returns the place of the new session. */
async function placeOf(value: string, from = proxy, send = app.send): Promise<string | null | undefined> {
  const headers = { [header]: value, 'x-forwarded-for': '198.51.100.7' };
  const cookie = cookieOf(await send('/login', { form, headers, from }));
  return (await openClient(send, cookie).sessions.list.query()).find(({ current }) => current)?.place;
}

describe('the place of a session', () => {
  it('is what a trusted proxy says in the header, beside device and address', async () => {
    const { send } = openBrowser(app.send);
    const headers = { [header]: 'Berlin', 'user-agent': iphone, 'x-forwarded-for': '198.51.100.7' };
    await send('/login', { form, headers, from: proxy });
    expect(textOf(await send('/profile/security'))).toContain('Safari on iOS Phone · Berlin · 198.51.100.7');
    expect(textOf(await send('/profile/activity'))).toMatch(/Logged in [^·]*· Safari on iOS · Berlin/);
  });

  it('is that of the last login in the same browser', async () => {
    const browser = openBrowser(app.send);
    for (const place of ['Berlin', 'Leipzig'])
      await browser.send('/login?prompt=login', { form, headers: { [header]: place }, from: proxy });
    const sessions = await openClient(app.send, browser.cookie()).sessions.list.query();
    expect(sessions.find(({ current }) => current)?.place).toBe('Leipzig');
  });

  it('is nothing that anybody else says, and is not kept without the setting', async () => {
    expect(await placeOf('Berlin', '192.0.2.1')).toBeNull();
    const without = await app.startInstance({ env: { TRUSTED_PROXIES: '10.0.0.0/8' } });
    expect(await placeOf('Berlin', proxy, without.send)).toBeNull();
  });

  it('is text of one line, 60 characters at most, whatever the header holds', async () => {
    expect(await placeOf('')).toBeNull();
    expect(await placeOf(' \t ')).toBeNull();
    expect(await placeOf('Ber\tlin')).toBe('Berlin');
    expect(await placeOf('x'.repeat(5_000))).toBe('x'.repeat(60));
    // On the wire, each byte of UTF-8 is one character.
    const onTheWire = (text: string) => Buffer.from(text).toString('latin1');
    expect(await placeOf(onTheWire('München'))).toBe('München');
    expect(await placeOf(onTheWire('\u202eMünchen\u2028'))).toBe('München');
    expect(await placeOf(onTheWire('東京'.repeat(40)))).toBe('東京'.repeat(30));
    expect(await placeOf('M\xfcnchen')).toBe('München');
  });

  it('is shown as text', async () => {
    const browser = openBrowser(app.send);
    const headers = { [header]: '<img src=x onerror=alert(1)>' };
    await browser.send('/login', { form, headers, from: proxy });
    for (const path of ['/profile/security', '/profile/activity']) {
      const page = await browser.send(path);
      expect(textOf(page)).toContain(headers[header]);
      expect(page.text.replace(/<script[\s\S]*?<\/script>/g, '')).not.toContain('<img src=x');
    }
  });
});

describe.each(['IDENTITY_PLACE_HEADER', 'IDENTITY_REQUEST_ID_HEADER'])('%s', (setting) => {
  it.each(['cf-ipcity', 'X-Client-Place'])('may be %s', (name) => {
    expect(faultsOf({ ...production, [setting]: name })).toEqual([]);
  });

  it.each(['a header', 'cf_ipcity', 'x'.repeat(65), 'cookie', 'Authorization', 'ort:', 'ü'])(
    'must not be %j',
    (name) => {
      expect(faultsOf({ ...production, [setting]: name })).toEqual([setting]);
    },
  );

  it('needs a trusted proxy', () => {
    const none = { TRUSTED_PROXIES: 'none', [setting]: 'cf-ipcity' };
    expect(faultsOf({ ...production, ...none })).toEqual([setting]);
    expect(faultsOf({ [setting]: 'cf-ipcity' })).toEqual([setting]);
  });
});
