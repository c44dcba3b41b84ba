import { expect, it } from 'vitest';
import { loadPages } from '../../server/instance/build.ts';
import { openApp } from '../support/app/app.ts';
import { listEveryRoute } from '../support/app/every-route.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(() => openApp({ env: { IDENTITY_NAME: 'Château ID' } }));

// A demo client is another site, with a name of its own in its titles.
const isDemo = (path: string) => path.startsWith('/demo/');

it('every page has a title of its own, with the name of the service', async () => {
  const { routes } = await loadPages();
  const pages = routes.filter(({ isPage }) => isPage);
  // Contract 11.45.
  const own = ['products', 'activity', 'data', 'connected', 'passkeys/add'].map((page) => `/profile/${page}`);
  const ofStaff = 'people invitations audit clients files billing billing/preview contracts invoices'.split(
    ' ',
  );
  expect(pages.map(({ path }) => path)).toEqual(
    expect.arrayContaining([...own, '/admin', ...ofStaff.map((page) => `/admin/${page}`)]),
  );
  const cookies = [
    undefined,
    await app.login('merchant@example.test'),
    await app.login('unverified@example.test'),
    await app.login('admin@example.test'),
  ];
  const titles = new Map<string, string>();
  const requests = (await listEveryRoute(app)).filter(({ name }) => name.startsWith('GET '));
  for (const { request } of requests) {
    const [path, options] = request;
    for (const cookie of cookies) {
      const { status, text, headers } = await app.send(path, {
        ...options,
        cookie,
        headers: { accept: 'text/html' },
      });
      if (!headers.get('content-type')?.startsWith('text/html') || status >= 400) continue;
      const title = /<title>([^<]*)<\/title>/.exec(text)?.[1] ?? '';
      titles.set(path.replace(/\?.*/, ''), title);
      expect(title, path).toMatch(isDemo(path) ? /\S/ : /^\S.* · Château ID$/);
    }
  }
  // Pages that only redirect or refuse in this test have no title.
  expect(titles.size).toBeGreaterThan(pages.length / 2);
  const ours = [...titles].filter(([path]) => !isDemo(path)).map(([, title]) => title);
  expect(ours.filter((title, index) => ours.indexOf(title) !== index)).toEqual([]);
});
