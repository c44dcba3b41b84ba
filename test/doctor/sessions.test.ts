// Sessions that a stranger can guess or make, and sessions that only look as if a stranger could.
import { afterEach, expect, it } from 'vitest';
import { faultsOf } from './harness/broken.ts';
import { openInProcess, sawOf } from './harness/in-process.ts';

const { examineClient, close } = openInProcess();
afterEach(close);

it.each([
  ['session_is_person', 'session_guessable', 'is made of what the hand-off says'],
  ['session_in_json', 'session_forgeable', 'somebody else was logged in'],
  ['session_counts', 'session_guessable', 'counts up'],
  ['session_is_sid', 'session_guessable', 'is made of what the hand-off says'],
  ['session_digest', 'session_guessable', 'is the same for each login'],
  ['session_not_verified', 'session_forgeable', 'somebody else was logged in'],
  ['session_known_key', 'session_forgeable', 'is signed with "changeme"'],
  ['session_in_part', 'session_forgeable', 'the person was still logged in'],
  ['session_once_unsigned', 'session_forgeable', 'Cut the last part'],
  ['role_cookie', 'session_forgeable', 'another role'],
])('finds %s', async (name, finding, words) => {
  const report = await examineClient({ name });
  expect(sawOf(report)).toContain(words);
  expect(faultsOf(report)).toContain(finding);
  expect(faultsOf(report).filter((id) => !/^session_(guess|forge)able$/.test(id))).toEqual([]);
});

it.each([
  'jwt',
  'session_with_server',
  'encrypted_session',
  'labelled_session',
  'named_session',
  'further_cookies',
])('lets %s be', async (name) => {
  const report = await examineClient({ name });
  expect(report).toMatchObject({ verdict: 'right', findings: [], unseen: [] });
});

it('forges sessions of its own people only (contract 3.39)', async () => {
  const sent = new Set<string>();
  await examineClient({
    name: 'session_is_person',
    front: (client) => (request, response) => {
      for (const [, id = ''] of (request.headers.cookie ?? '').matchAll(/session=([^;]*)/g)) sent.add(id);
      return client(request, response);
    },
  });
  const ids = [...sent].filter((value) => /^[0-9a-f-]{36}$/.test(value));
  expect(ids.length).toBeGreaterThanOrEqual(2);
  for (const id of ids) expect(id).toMatch(/^[0X]{8}-[0X]{4}-7/);
});
