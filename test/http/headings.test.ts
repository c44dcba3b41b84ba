// Headings keep their order on every page, for everybody (contract 9.225).
import { expect, it } from 'vitest';
import { openApp } from '../support/app/app.ts';
import { listEveryRoute } from '../support/app/every-route.ts';
import { buildSignup, pushSignup } from '../support/crm/crm.ts';
import { shared } from '../support/run/shared.ts';

/** There must be one `h1`, which comes first. No heading may be more than one level below the one before it. */
function findHeadingFaults(html: string): string[] {
  const levels = [...html.matchAll(/<h([1-6])[\s>]/g)].map(([, level]) => Number(level));
  const gaps = levels.flatMap((level, at) => {
    const before = levels[at - 1] ?? 0;
    return level > before + 1 ? [`h${level} after h${before}`] : [];
  });
  const count = levels.filter((level) => level === 1).length;
  return count === 1 ? gaps : [`${count} h1`, ...gaps];
}

const app = shared(openApp);

it('every page has one h1, and its other headings below it without a gap', async () => {
  const email = 'merchant@example.test';
  await pushSignup(app, buildSignup('headings', { user: { email, name: 'Maya' } }));
  const people = [undefined, email, 'customer@example.test', 'unverified@example.test', 'admin@example.test'];
  const cookies = await Promise.all(people.map((each) => each && app.login(each)));
  const faults: string[] = [];
  let pages = 0;
  for (const { name, request } of await listEveryRoute(app)) {
    if (!/^(?:GET|POST) /.test(name)) continue;
    // Only a stranger sends the forms, so that each answer is a refusal.
    for (const [at, cookie] of name.startsWith('GET ') ? cookies.entries() : [[0, undefined] as const]) {
      const [path, options] = request;
      const headers = { accept: 'text/html', ...options?.headers };
      const answer = await app.send(path, { ...options, cookie, headers });
      if (!answer.headers.get('content-type')?.startsWith('text/html')) continue;
      pages++;
      faults.push(...findHeadingFaults(answer.text).map((fault) => `${name} for ${people[at]}: ${fault}`));
    }
  }
  expect(pages).toBeGreaterThan(100);
  expect(faults).toEqual([]);
});

it.each([
  ['<h1>One</h1><h2>Two</h2><h3>Three</h3><h2>Two</h2>', []],
  ['<h1>One</h1><h3 id="x">Three</h3>', ['h3 after h1']],
  ['<h2>Two</h2><h1>One</h1>', ['h2 after h0']],
  ['<h1>One</h1><h1>One</h1>', ['2 h1']],
  ['<p>None</p>', ['0 h1']],
])('of %s it says what is wrong', (html, faults) => expect(findHeadingFaults(html)).toEqual(faults));
