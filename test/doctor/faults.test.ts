// Faults on the way to a client or around it: each is named by the code of its refusal, or by the doctor.
import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { examine } from '../../clients/doctor/examine.ts';
import { faultsOf } from './harness/broken.ts';
import { settings, targetOf } from './harness/clients.ts';
import { type Handler, openInProcess, sawOf } from './harness/in-process.ts';

const { examineClient, close } = openInProcess();
afterEach(close);

const seconds = () => Math.floor(Date.now() / 1_000);

it('lets the right client be', async () => {
  const report = await examineClient({});
  expect(report).toMatchObject({
    verdict: 'right',
    holdsSecrets: [1],
    findings: [],
    unseen: [],
  });
  expect(Math.abs(report.clockAheadSeconds ?? Number.NaN)).toBeLessThanOrEqual(5);
});

/** Shifts the Date of the client's answers, as a wrong clock of its machine does. */
const dated =
  (ahead: number) => (client: Handler) => (request: IncomingMessage, response: ServerResponse) => {
    response.setHeader('date', new Date(Date.now() + ahead * 1_000).toUTCString());
    return client(request, response);
  };

it.each([
  [3_600, '60 minutes fast', 'expired'],
  [-3_600, '60 minutes slow', 'issued_in_future'],
  [45, '45 seconds fast', ''],
])('a clock that is %d seconds ahead', async (ahead, words, code) => {
  const report = await examineClient({
    options: { now: () => seconds() + ahead },
    front: dated(ahead),
  });
  expect(faultsOf(report)).toEqual(['clock_wrong']);
  expect(sawOf(report)).toContain(words);
  expect(sawOf(report)).toContain(code);
  expect(Math.abs((report.clockAheadSeconds ?? 0) - ahead)).toBeLessThanOrEqual(5);
});

it.each([
  [20, 'fast by ten seconds or more'],
  [-20, 'slow by ten seconds or more'],
])('a clock %d seconds ahead behind a proxy whose clock is right', async (ahead, words) => {
  const report = await examineClient({ options: { now: () => seconds() + ahead } });
  expect(faultsOf(report)).toEqual(['clock_wrong']);
  expect(sawOf(report)).toContain(words);
});

it('a proxy whose clock is off in front of a client whose clock is right', async () => {
  const report = await examineClient({ front: dated(3_600) });
  expect(faultsOf(report)).toEqual(['clock_wrong']);
  expect(sawOf(report)).toContain('By the Date of its answers');
});

it('a wrong secret', async () => {
  const report = await examineClient({ options: { secrets: ['another-secret-another-secret-another'] } });
  expect(faultsOf(report)).toEqual(['secret_wrong']);
  expect(report).toMatchObject({ verdict: 'wrong', holdsSecrets: [] });
});

it.each([
  ['with a line break at its end', `${settings.secrets[0]}\n`],
  ['with its quotation marks', `"${settings.secrets[0]}"`],
])('the secret %s', async (words, secret) => {
  const report = await examineClient({ options: { secrets: [secret] } });
  expect(faultsOf(report)).toEqual(['secret_wrong']);
  expect(sawOf(report)).toContain(words);
});

it('the old secret, once the rotation is over', async () => {
  const [old = ''] = settings.secrets;
  const next = 'Vb4nMq7wEr2tYu9iOp5aSd8fGh1jKl3z';
  const during = await examineClient({ secrets: [old, next] });
  expect(during).toMatchObject({ verdict: 'right', holdsSecrets: [1] });
  expect(during.findings.map(({ id }) => id)).toEqual(['rotation_unfinished']);
  const both = await examineClient({ secrets: [old, next], options: { secrets: [old, next] } });
  expect(both).toMatchObject({ verdict: 'right', holdsSecrets: [1, 2], findings: [] });
  const ahead = await examineClient({ secrets: [old, next], options: { secrets: [next] } });
  expect(ahead).toMatchObject({ verdict: 'right', holdsSecrets: [2], findings: [] });
  expect(faultsOf(await examineClient({ secrets: [next] }))).toEqual(['secret_wrong']);
});

it('a cookie that is lost, because the login starts on another host', async () => {
  const report = await examineClient({
    at: ({ loginUrl }) => ({ loginUrl: loginUrl.replace('127.0.0.1', 'localhost') }),
  });
  expect(faultsOf(report)).toEqual(['genuine_refused']);
  expect(sawOf(report)).toContain('state_unknown');
});

/** Changes the query of the callback, as something in front of a client may. */
const changesQuery =
  (change: (query: URLSearchParams) => void) =>
  (client: Handler): Handler =>
  (request, response) => {
    const url = new URL(request.url ?? '', 'http://client.test');
    if (url.pathname.endsWith('/callback')) {
      change(url.searchParams);
      request.url = url.pathname + url.search;
    }
    return client(request, response);
  };

it.each<[string, code: string, (query: URLSearchParams) => void]>([
  [
    'repeats parameters',
    'parameter_repeated',
    (query) => query.append('payload', query.get('payload') ?? ''),
  ],
  ['cuts parameters off', 'parameter_missing', (query) => query.delete('signature')],
  [
    'cuts the payload',
    'payload_malformed',
    (query) => query.set('payload', `${query.get('payload')?.slice(0, 200)}.`),
  ],
  [
    'changes the signature',
    'signature_malformed',
    (query) => query.set('signature', (query.get('signature') ?? '').toUpperCase()),
  ],
])('a proxy that %s', async (_, code, change) => {
  const report = await examineClient({ front: changesQuery(change) });
  expect(faultsOf(report)).toEqual(['query_changed']);
  expect(sawOf(report)).toContain(code);
});

it('a store of nonces that is down', async () => {
  const report = await examineClient({ options: { consumeNonce: () => Promise.reject(new Error('down')) } });
  expect(faultsOf(report)).toEqual(['store_unavailable']);
});

it('nonces that are read from a replica', async () => {
  const arriving = new Map<string, number>();
  const consumeNonce = async (nonce: string) => {
    const isSeen = (arriving.get(nonce) ?? Number.POSITIVE_INFINITY) < Date.now();
    if (!arriving.has(nonce)) arriving.set(nonce, Date.now() + 700);
    return !isSeen;
  };
  const report = await examineClient({ options: { consumeNonce } });
  expect(faultsOf(report)).toEqual(['nonce_not_atomic']);
});

it('a callback that is not there, and a client that is away', async () => {
  const gone = await examineClient({
    at: ({ callbackUrl }) => ({ callbackUrl: callbackUrl.replace('right/callback', 'right/gone') }),
    front: (client) => (request, response) =>
      request.url?.includes('/gone') ? response.writeHead(404).end() : client(request, response),
  });
  expect(gone).toMatchObject({ verdict: 'not_examined', reason: expect.stringContaining('404') });
  const away = await examine(targetOf('http://127.0.0.1:9', 'right'), { fetch, now: () => new Date() });
  expect(away).toMatchObject({ verdict: 'not_examined', reason: expect.stringContaining('did not answer') });
});

it('refusals without codes are enough, and advised against', async () => {
  const front =
    (client: Handler): Handler =>
    (request, response) => {
      const write = response.writeHead.bind(response) as (
        status: number,
        headers: Record<string, string>,
      ) => ServerResponse;
      response.writeHead = ((status: number, { 'identity-refusal': _, ...headers }: Record<string, string>) =>
        write(status, headers)) as typeof response.writeHead;
      return client(request, response);
    };
  const report = await examineClient({ front });
  expect(report).toMatchObject({ verdict: 'right', holdsSecrets: [1] });
  expect(report.findings.map(({ id }) => id)).toEqual(['refusal_code_missing']);
});
