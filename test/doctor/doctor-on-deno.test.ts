// The doctor on Deno, which handles requests, certificates and connections in its own way.
import { expect, it } from 'vitest';
import { shared } from '../support/run/shared.ts';
import { startClients } from './harness/clients.ts';
import { startHttpsClients } from './harness/https-clients.ts';
import { operatorSettings, runDoctor } from './harness/run-doctor.ts';

const clients = shared(() => startClients('typescript', { issuer: 'http://localhost:3000' }));

it('proves a right client right', async () => {
  const { code, out, err } = await runDoctor(['shop'], operatorSettings(clients.base, 'right'), 'deno');
  expect({ code, out }, err).toEqual({
    code: 0,
    out: expect.stringContaining('shop: right. Nothing wrong was found.'),
  });
});

it.each([
  ['nonce_not_atomic', 'nonce_not_atomic'],
  ['host_header_followed', 'host_followed'],
])('finds what is wrong with %s', async (name, finding) => {
  const env = operatorSettings(clients.base, name);
  const { code, out, err } = await runDoctor(['shop', '--json'], env, 'deno');
  expect(JSON.parse(out).findings, err).toMatchObject([{ id: finding }]);
  expect(code).toBe(1);
});

it.each<[string, { name?: string; isKnown?: boolean; findings: string[] }]>([
  ['a right client', { findings: [] }],
  ['one that believes Host', { name: 'host_header_followed', findings: ['host_followed'] }],
  ['one whose certificate is of nobody', { isKnown: false, findings: ['certificate_wrong'] }],
])('over https, too: %s', async (_, { name = 'right', isKnown = true, findings }) => {
  const { base, certificateFile, stop } = await startHttpsClients();
  try {
    const env = { ...operatorSettings(base, name), ...(isKnown && { DENO_CERT: certificateFile }) };
    const { code, out, err } = await runDoctor(['shop', '--json'], env, 'deno');
    expect(JSON.parse(out).findings, err).toMatchObject(findings.map((id) => ({ id })));
    expect(code).toBe(findings.length > 0 ? 1 : 0);
  } finally {
    await stop();
  }
});
