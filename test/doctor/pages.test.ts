// Pages that name more people than the one who is logged in: the doctor blames no client for such a page, but finds real faults.
import { afterEach, describe, expect, it } from 'vitest';
import type { FindingId } from '../../clients/doctor/findings.ts';
import type { ClientOptions, User } from './broken/typescript.ts';
import { faultsOf } from './harness/broken.ts';
import { type Handler, openInProcess } from './harness/in-process.ts';

const { examineClient, close } = openInProcess();
afterEach(close);

type Render = NonNullable<ClientOptions['renderPage']>;

const list = (users: User[]) =>
  `<ul>${users.map(({ id, name, email }, n) => `<li><a href="/customers/${n}">${name}</a> ${id} ${email}</li>`).join('')}</ul>`;

const pages: [words: string, Render][] = [
  [
    'a list of all customers below the person',
    (user, users) => (user ? `<p>Hello ${user.name} (${user.id})</p>${list(users)}` : 'Log in'),
  ],
  [
    'a list above the person, for visitors too',
    (user, users) =>
      `${list(users)}<footer>${user ? `${user.id} <a href="/logout">${user.name}</a>` : 'Log in'}</footer>`,
  ],
  [
    'a list in which the person is marked',
    (user, users) =>
      users.map((each) => `<li${each === user ? ' class="you"' : ''}>${each.name}</li>`).join('\n'),
  ],
  [
    'a list in which a word behind the name marks the person',
    (user, users) => users.map((each) => `${each.name}${each === user ? ' (you)' : ''}`).join('\n'),
  ],
  [
    'a list of the others',
    (user, users) => (user ? `<b>${user.name}</b>${list(users.filter((each) => each !== user))}` : ''),
  ],
];

describe.each(pages)('%s', (_, renderPage) => {
  it('lets the right client be', async () => {
    const report = await examineClient({ options: { renderPage } });
    expect(report).toMatchObject({ verdict: 'right', findings: [] });
    expect(report.unseen.map(({ id }) => id)).toEqual(['role_kept']);
  });

  it.each<FindingId>(['linked_by_email', 'older_profile_applied', 'second_submit_logs_out'])(
    'finds %s',
    async (name) => {
      expect(faultsOf(await examineClient({ name, options: { renderPage } }))).toEqual([name]);
    },
  );
});

/** Turns each refusal with a 4xx into a redirect to a page that everybody may read. */
const redirects =
  (client: Handler): Handler =>
  (request, response) => {
    const write = response.writeHead.bind(response) as (status: number, headers: object) => typeof response;
    const isCallback = request.url?.includes('/callback');
    response.writeHead = ((status: number, headers: object) =>
      isCallback && status >= 400
        ? write(303, { ...headers, location: `${request.url?.split('/callback')[0]}/` })
        : write(status, headers)) as typeof response.writeHead;
    return client(request, response);
  };

it('a refusal that leads to a page which names everybody is a refusal', async () => {
  const [, [, renderPage]] = pages as [unknown, [string, Render]];
  const report = await examineClient({ front: redirects, options: { renderPage } });
  expect(report.findings.map(({ id }) => id)).toEqual(['refusal_status']);
  expect(report.verdict).toBe('right');
});

it.each<FindingId>(['mac_not_checked', 'state_not_compared', 'state_missing_accepted', 'nonce_not_checked'])(
  'finds %s if refusals lead to a page which names everybody',
  async (name) => {
    const [, [, renderPage]] = pages as [unknown, [string, Render]];
    expect(faultsOf(await examineClient({ name, front: redirects, options: { renderPage } }))).toEqual([
      name,
    ]);
  },
);

it.each<[string, FindingId]>([
  ['lets a right client be', 'linked_by_email'],
  ['accuses nobody of what it cannot see', 'older_profile_applied'],
])('where a page names everybody, and not who is logged in, it %s', async (_, name) => {
  const report = await examineClient({
    name: name === 'linked_by_email' ? 'right' : name,
    options: { renderPage: (_, users) => list(users) },
  });
  expect(report.findings).toEqual([]);
  expect(report.unseen.map(({ id }) => id)).toContain('older_profile_applied');
  expect(report.verdict).toBe('not_sure');
});
