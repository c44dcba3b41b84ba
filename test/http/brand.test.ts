import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { shared, sharedFolder } from '../support/run/shared.ts';

const hostile =
  '<svg xmlns="http://www.w3.org/2000/svg"><script>document.title = "run"</script><rect width="9" height="9"/></svg>';
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0x00, 0xff]);

const folder = await sharedFolder();
await writeFile(join(folder, 'logo'), hostile);
await writeFile(join(folder, 'client'), png);
await writeFile(join(folder, 'dark'), hostile.replaceAll('9', '8'));
const app = shared(() =>
  openApp({
    env: {
      IDENTITY_NAME: 'Château "ID"',
      IDENTITY_LOGO_FILE: join(folder, 'logo'),
      IDENTITY_LOGO_DARK_FILE: join(folder, 'dark'),
      IDENTITY_ACCENT_COLOR: '#1E3A8A',
      SSO_MARKETPLACE_LOGO_FILE: join(folder, 'client'),
      SSO_MARKETPLACE_LOGO_DARK_FILE: join(folder, 'logo'),
    },
  }),
);
const plain = shared(() => openApp({ env: { IDENTITY_NAME: '<क्षि & Co' } }));

const launch = '/login?next=%2Fsso%2Flaunch%2Fmarketplace';
/** Returns the paths under /brand/ in a page, except those in its script. */
const brandOf = (page: string) =>
  [...page.replace(/<script[\s\S]*?<\/script>/g, '').matchAll(/(?:src|srcSet|href)="(\/brand\/[^"]+)"/g)].map(
    ([, path]) => path ?? '',
  );
const dark = 'media="(prefers-color-scheme: dark)"';
const light = 'media="(prefers-color-scheme: light)"';

describe('the logo', () => {
  it('is in the head of each page, with the name as its text, and another on dark pages (contract 8.87)', async () => {
    for (const path of ['/login', '/forgot-password', '/nowhere']) {
      const { text } = await app.send(path, { headers: { accept: 'text/html' } });
      const [, forDark, forLight] =
        /<a class="brand" href="\/"><picture><source srcSet="([^"]+)" media="\(prefers-color-scheme: dark\)"\/><img src="([^"]+)" alt="Château &quot;ID&quot;"\/><\/picture><\/a>/.exec(
          text,
        ) ?? [];
      expect((await app.send(forDark ?? '')).text).toContain('width="8"');
      expect((await app.send(forLight ?? '')).text).toContain('width="9"');
      // If several icons fit, a browser takes the last one (contract 8.90).
      expect(text.match(/<link rel="icon"[^>]*>/g)).toEqual([
        `<link rel="icon" href="${forDark}" type="image/svg+xml" ${dark}/>`,
        `<link rel="icon" href="${forLight}" type="image/svg+xml" ${light}/>`,
      ]);
      const favicon = await app.send('/favicon.ico');
      expect(favicon.text).toBe(hostile);
      expect(favicon.headers.get('content-security-policy')).toMatch(/; sandbox$/);
    }
  });

  it('of a client is on the login page that leads to it, and beside it among the products', async () => {
    const own = brandOf((await app.send('/login')).text);
    const [path = '', ...more] = brandOf((await app.send(launch)).text).filter((each) => !own.includes(each));
    expect([path, more]).toEqual([expect.stringMatching(/^\/brand\/[0-9a-f]{24}\.png$/), []]);
    const picture =
      /<picture><source srcSet="([^"]+)" media="\(prefers-color-scheme: dark\)"\/><img src="([^"]+)" alt=""\/>/;
    const [, darkPath = ''] = picture.exec((await app.send(launch)).text) ?? [];
    expect(own).toContain(darkPath);
    const cookie = await app.login('merchant@example.test');
    const products = await app.send('/profile/products', { cookie });
    expect(picture.exec(products.text)?.slice(1)).toEqual([darkPath, path]);
    const other = await app.send('/login?next=%2Fsso%2Flaunch%2Fcrm_app');
    expect(brandOf(other.text)).toEqual(own);
  });

  it('is not there where none is given, but the first letter of the name (contract 8.90)', async () => {
    const cookie = await plain.login('merchant@example.test');
    for (const page of [await plain.send(launch), await plain.send('/profile', { cookie })]) {
      const [, icon = ''] = /<link rel="icon" href="([^"]+)" type="image\/svg\+xml"\/>/.exec(page.text) ?? [];
      expect(new Set(brandOf(page.text))).toEqual(new Set([icon]));
      expect(page.text).toContain(
        `<a class="brand" href="/"><img src="${icon}" alt=""/>&lt;क्षि &amp; Co</a>`,
      );
      const { text } = await plain.send(icon);
      expect(text).toMatch(/<rect [^>]*fill="#0e6b56"\/><text [^>]*fill="#ffffff"[^>]*>क्षि<\/text><\/svg>$/);
      expect((await plain.send('/favicon.ico')).text).toBe(text);
    }
  });
});

describe('a file of the brand', () => {
  it('is served as what it is, for ever, and can run nothing', async () => {
    const paths = [...new Set(brandOf((await app.send(launch)).text))];
    expect(paths).toHaveLength(4);
    const types = new Map([
      ['svg', 'image/svg+xml'],
      ['png', 'image/png'],
      ['css', 'text/css; charset=utf-8'],
    ]);
    for (const path of paths) {
      const { status, headers } = await app.send(path);
      expect([status, headers.get('content-type')]).toEqual([200, types.get(path.split('.')[1] ?? '')]);
      expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
      expect(headers.get('content-security-policy')).toBe(
        "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      );
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('set-cookie')).toBeNull();
      expect((await app.send(path, { method: 'HEAD' })).status).toBe(200);
      // The digest in the path names the file, so an instance that does not have the file answers 404.
      expect((await plain.send(path)).status).toBe(404);
    }
    const served = await app.fetch(
      new Request(`http://localhost:3000${paths.find((path) => path.endsWith('png'))}`),
      {
        address: '192.0.2.1',
      },
    );
    expect(new Uint8Array(await served.arrayBuffer())).toEqual(png);
  });

  it.each(['none.svg', '..%2flogo', 'logo', '__proto__', '%00'])('is not found as %s', async (name) => {
    expect((await app.send(`/brand/${name}`)).status).toBe(404);
  });
});

describe('the accent colour', () => {
  it('is in a stylesheet of our own, which comes after the others', async () => {
    const { text } = await app.send('/login');
    const styles = [...text.matchAll(/<link rel="stylesheet" href="([^"]+)"/g)].map(([, href]) => href ?? '');
    expect(styles.at(-1)).toMatch(/^\/brand\/[0-9a-f]{24}\.css$/);
    const css = await app.send(styles.at(-1) ?? '');
    expect(css.text).toMatch(
      /^:root \{\n {2}--accent: light-dark\(#1e3a8a, #[0-9a-f]{6}\);\n {2}--accent-ink: #ffffff;\n(?: {2}--accent-[a-z]+: [^;]+;\n){4}\}\n.*@supports not [^{]+\{\n {2}:root \{\n {4}--accent: #1e3a8a;\n/s,
    );
  });

  it('is in the mails', async () => {
    await app.send('/forgot-password', { form: { email: 'merchant@example.test' } });
    await expect
      .poll(
        async () => {
          const [mail] = await app.db
            .selectFrom('mails')
            .select('kept_html')
            .where('kept_html', 'is not', null)
            .execute();
          return mail?.kept_html;
        },
        { timeout: 10_000 },
      )
      .toContain('background:#1e3a8a');
  });
});
