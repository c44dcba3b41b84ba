// Answers from a cache in front of a client. Sessions in signed cookies only look like answers from a cache.
import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import type { ClientOptions } from './broken/typescript.ts';
import { faultsOf } from './harness/broken.ts';
import { type Handler, openInProcess, sawOf } from './harness/in-process.ts';

const { examineClient, listen, close } = openInProcess();
afterEach(close);

type Kept = { status: number; headers: [string, string][]; body: string };

/** Caches answers of the callback: the first answer for everybody, or one answer for each URL. */
const cache =
  (keyOf: (url: string) => string) =>
  (client: Handler): Handler => {
    const kept = new Map<string, Promise<Kept>>();
    return async (request, response) => {
      const { url = '' } = request;
      if (!url.includes('/callback')) return client(request, response);
      const answer = kept.get(keyOf(url)) ?? readAnswer(client, request);
      kept.set(keyOf(url), answer);
      const { status, headers, body } = await answer;
      response.writeHead(status, headers.flat()).end(body);
    };
  };

/** Caches the first login for everybody, but no refusal. */
const cacheOfLogins = (client: Handler): Handler => {
  let kept: Promise<Kept> | undefined;
  return async (request, response) => {
    if (!request.url?.includes('/callback')) return client(request, response);
    const answer = await (kept ?? readAnswer(client, request));
    if (answer.headers.some(([name]) => name === 'set-cookie')) kept ??= Promise.resolve(answer);
    response.writeHead(answer.status, answer.headers.flat()).end(answer.body);
  };
};

async function readAnswer(client: Handler, { url, headers }: IncomingMessage): Promise<Kept> {
  const origin = await listen(client);
  const answer = await fetch(origin + url, {
    headers: { cookie: headers.cookie ?? '' },
    redirect: 'manual',
  });
  const kept = [...answer.headers].filter(([name]) => !/^(content-length|transfer-encoding)$/.test(name));
  return { status: answer.status, headers: kept, body: await answer.text() };
}

it('a callback that is cached whatever the query', async () => {
  const marked = (client: Handler) => {
    const cached = cache(() => '')(client);
    return (request: IncomingMessage, response: ServerResponse) => {
      response.setHeader('age', '5');
      return cached(request, response);
    };
  };
  expect(faultsOf(await examineClient({ front: marked }))).toEqual(['cache_in_front']);
});

it('a callback that is cached by its whole address', async () => {
  const report = await examineClient({ front: cache((url) => url) });
  expect(faultsOf(report)).toEqual(['cache_in_front']);
  expect(sawOf(report)).toContain('Two browsers were given the same session.');
});

/** A session as Flask and Django make it: the person, the time in seconds, and a signature. */
const signed: ClientOptions['createSession'] = ({ id }) => sign(`${id}.${Math.floor(Date.now() / 1_000)}`);
/** A session as cookie-session makes it: without a time. */
const timeless: ClientOptions['createSession'] = ({ id }) => sign(id);
const sign = (text: string) =>
  `${text}.${createHmac('sha256', 'a key of the client').update(text).digest('base64url')}`;

describe.each([
  ['with the second of the login', signed],
  ['without a time', timeless],
])('a session that is a signed cookie %s', (_, createSession) => {
  it('is not taken for an answer of a cache', async () => {
    const report = await examineClient({ options: { createSession } });
    expect(report).toMatchObject({ verdict: 'right', findings: [], unseen: [] });
  });

  it('hides no nonce that is not checked', async () => {
    const report = await examineClient({ name: 'nonce_not_checked', options: { createSession } });
    expect(faultsOf(report)).toEqual(['nonce_not_checked']);
  });

  it('hides no cache that answers whatever the query', async () => {
    const report = await examineClient({ front: cacheOfLogins, options: { createSession } });
    expect(faultsOf(report)).toContain('cache_in_front');
    expect(sawOf(report)).toContain('Two people were given the same session.');
  });
});

it('a session that is a signed cookie hides no cache by the whole address', async () => {
  const report = await examineClient({ front: cache((url) => url), options: { createSession: signed } });
  expect(faultsOf(report)).toEqual(['cache_in_front']);
});
