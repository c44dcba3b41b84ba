// IDENTITY_URL in the kit for TypeScript (contract 13.70 to 13.74). All kits share the table of clients/identity-urls.json.
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readConfiguration } from '../../clients/typescript/src/config.ts';
import {
  ConfigurationError,
  createIdentityClient,
  createMemoryStores,
} from '../../clients/typescript/src/index.ts';
import { readOurFile } from '../support/project/documents.ts';

type Case = { why: string; url: string; issuer?: string; client?: string; secrets?: string[] };
const cases: Case[] = JSON.parse(readOurFile('clients/identity-urls.json'));
const origin = 'https://shop.example.test';
const stores = createMemoryStores();
const [{ url = '', issuer = '', client = '', secrets = [] } = {}] = cases;

const errorOf = (configuration: object): ConfigurationError => {
  try {
    createIdentityClient({ ...stores, origin, identityUrl: url, ...configuration });
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
    throw error;
  }
  return expect.unreachable();
};

describe('IDENTITY_URL', () => {
  it.each(cases.filter((each) => each.issuer))(
    'says service, client and secrets: $why (contract 13.70 and 13.71)',
    (each) => {
      const { issuer, client, secrets } = readConfiguration({ ...stores, origin, identityUrl: each.url });
      expect([issuer, client, secrets]).toEqual([each.issuer, each.client, each.secrets]);
    },
  );

  it.each(cases.filter((each) => !each.issuer))(
    'is refused without its values: $why (contract 13.71 and 13.74)',
    (each) => {
      const error = errorOf({ identityUrl: each.url });
      expect(error.faults).toEqual([expect.stringMatching(/^identityUrl must be like /)]);
      expect(inspect(error, { showHidden: true, depth: 9 })).not.toMatch(/kanarienvogel/);
    },
  );

  it('sets the paths of the client, which may be others (contract 13.73)', () => {
    const read = (more: object) =>
      readConfiguration({ ...stores, origin: `${origin}/`, identityUrl: url, ...more });
    expect(read({})).toMatchObject({ callbackUrl: `${origin}/sso/callback`, loginUrl: `${origin}/login` });
    const other = { callbackUrl: `${origin}/cb`, loginUrl: `${origin}/in` };
    expect(read(other)).toMatchObject(other);
  });

  it('stands for the old settings, which still work (contract 13.72)', () => {
    const old = { ...stores, issuer, client, secrets };
    expect(readConfiguration({ ...old, origin }).callbackUrl).toBe(`${origin}/sso/callback`);
    expect(readConfiguration({ ...old, origin, identityUrl: undefined }).client).toBe(client);
    const other = { issuer: 'https://other.example.test', client: 'other', secrets: ['x'.repeat(40)] };
    expect(readConfiguration({ ...stores, origin, ...other, identityUrl: url })).toMatchObject({
      issuer,
      client,
      secrets,
    });
  });

  it('names all faults at once', () => {
    const names = (configuration: object) =>
      errorOf(configuration).faults.map((fault) => fault.split(' ')[0]);
    expect(names({ identityUrl: undefined, origin: 'shop', ttlSeconds: 1, nonces: undefined })).toEqual([
      'identityUrl',
      'callbackUrl',
      'loginUrl',
      'ttlSeconds',
      'nonces',
    ]);
    expect(names({ identityUrl: 'http://1shop:kanarienvogel@id.example.test' })).toEqual([
      'issuer',
      'client',
      'secrets',
    ]);
    expect(names({ origin: undefined })).toEqual(['callbackUrl', 'loginUrl']);
  });

  it('is in no error where it was given for the issuer, nor in a log or an answer (contract 13.74)', async () => {
    const error = errorOf({ identityUrl: undefined, issuer: url, client, secrets: [] });
    expect(inspect(error, { showHidden: true, depth: 9 })).not.toMatch(/kanarienvogel/);
    const seen: unknown[] = [];
    const identity = createIdentityClient({
      ...createMemoryStores(),
      identityUrl: url,
      origin,
      log: (entry) => seen.push(entry),
      fetch: async (...asked) => {
        seen.push(asked);
        throw new Error('away');
      },
    });
    const start = new Request(`${origin}/login`, { headers: { host: 'elsewhere.example' } });
    const hooks = { startSession: () => ({}), endSession: () => {}, startOver: () => {} };
    const answers = [
      await identity.startLogin(start),
      await identity.handleCallback(new Request(`${origin}/other?payload=x&signature=y`), hooks),
      await identity.receiveNudge(new Request(`${origin}/sso/events`, { method: 'POST', body: '{}' })),
    ];
    for (const answer of answers) seen.push([...answer.headers], await answer.text());
    seen.push(await identity.pullEvents(hooks).catch((error) => error));
    expect(seen.length).toBeGreaterThan(9);
    expect(inspect(seen, { showHidden: true, depth: 9 })).not.toMatch(/kanarienvogel|shop:/);
  });
});
