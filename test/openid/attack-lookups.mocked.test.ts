// A product whose host name cannot be looked up (contract 14.77). Node looks host names up on a few threads, and all other
// look-ups wait for these threads.
import { beforeEach, expect, it, vi } from 'vitest';
import { callClient } from '../../server/clients/call.ts';

const asked: { host: string; answer: (addresses: { address: string }[]) => void }[] = [];
vi.mock(import('node:dns/promises'), async (original) => ({
  ...(await original()),
  lookup: ((host: string) => new Promise((answer) => asked.push({ host, answer }))) as never,
}));

beforeEach(() => {
  asked.length = 0;
});

const config = { production: true, allowsPrivateNetworks: false };
const message = { headers: {}, body: new Uint8Array() };
const callAt = (url: string, { signal } = new AbortController()) => callClient(config, url, message, signal);
const hosts = () => asked.map(({ host }) => host);
const answerAll = () => {
  for (const { answer } of asked.splice(0)) answer([{ address: '127.0.0.1' }]);
};

it('takes one look-up at once, however many calls wait for it or have given up', async () => {
  const controllers = Array.from({ length: 16 }, () => new AbortController());
  const calls = controllers.map((each) => callAt('https://hangs.example.test/', each));
  for (const each of controllers) each.abort(new Error('given up'));
  expect(await Promise.all(calls)).toEqual(Array(16).fill('connection failed'));
  const again = Array.from({ length: 16 }, () => callAt('https://hangs.example.test/again'));
  const other = callAt('https://fine.example.test/');
  expect(hosts()).toEqual(['hangs.example.test', 'fine.example.test']);
  answerAll();
  expect(await Promise.all([...again, other])).toEqual(Array(17).fill('address not allowed'));
});

it('is looked up anew for a call after that, because its address may have changed (contract 13.16)', async () => {
  for (const _ of [1, 2]) {
    const call = callAt('https://moves.example.test/');
    expect(hosts()).toEqual(['moves.example.test']);
    answerAll();
    await call;
  }
});
