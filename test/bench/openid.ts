// What a login at an OpenID Connect product costs: /oauth/authorize and /oauth/token, measured in turns with a first launch.
// Also measures one signature by RS256 and by ES256, made in this process.
import { createHash } from 'node:crypto';
import { generateKeyPair, SignJWT } from 'jose';
import { inTransaction } from '../../db/postgres/transactions.ts';
import { lockClients } from '../../db/tables/clients.ts';
import { addClient } from '../../server/clients/rows.ts';
import { readConfig } from '../../server/settings/config.ts';
import { connect } from '../support/database/postgres.ts';
import { forget, rounds, takeTurns } from './compare.ts';
import type { BenchDatabase } from './database.ts';
import { type Measured, measure, median, medians } from './load.ts';
import { type Asked, buildAsking, tokenOf } from './population.ts';
import { type Server, startService } from './servers.ts';
import { addRow, number } from './table.ts';

const name = 'wiki';
const redirectUri = 'https://wiki.bench.test/callback';
const verifier = 'a-verifier.of_43-characters~at-the-very-least-0';
const challenge = createHash('sha256').update(verifier).digest('base64url');
const scope = ['openid', 'profile', 'email'];
const seconds = Number(process.env.BENCH_SECONDS ?? 1);
// More codes than a round exchanges.
const codes = 8_000;

export async function measureOpenId(
  database: BenchDatabase,
  postgresCpuMs: () => Promise<number>,
): Promise<void> {
  const secret = await prepare(database);
  const server = await startService('node', database.env);
  try {
    const measureFirst = async () => {
      await forget('first launch', database);
      const ask = buildAsking(database.people)['first launch'];
      return measure(server, ask, { seconds, expected: 303, postgresCpuMs });
    };
    const ways: [string, () => Promise<Measured>][] = [
      ['first launch of somebody known', measureFirst],
      ['/oauth/authorize', () => measureAuthorize(server, database, postgresCpuMs)],
      ['/oauth/token', () => measureToken(server, database, secret, postgresCpuMs)],
    ];
    const run = ([, work]: (typeof ways)[number]) => work();
    await takeTurns(ways, 2, run);
    const signatures: Record<string, number[]> = { RS256: [], ES256: [] };
    const found = await takeTurns(ways, rounds, async (way) => {
      for (const algorithm of Object.keys(signatures))
        signatures[algorithm]?.push(await timeSignature(algorithm));
      return run(way);
    });
    const [first = [], authorize = [], token = []] = found;
    for (const [n, [way]] of ways.entries()) addRow(way, medians(found[n] ?? []));
    const hop = authorize.map(({ cpuMs }, n) => cpuMs + (token[n]?.cpuMs ?? Number.NaN));
    const share = median(hop.map((ms, n) => ms / (first[n]?.cpuMs ?? Number.NaN)));
    addRow(`both, ${number(share)} of a first launch`, { cpuMs: median(hop) });
    for (const [algorithm, times] of Object.entries(signatures))
      addRow(`a signature by ${algorithm}`, { cpuMs: median(times) });
  } finally {
    await server.stop();
  }
}

/** Adds a product at which everybody has logged in before. Returns its secret. */
async function prepare({ env, client }: BenchDatabase): Promise<string> {
  const { db, close } = connect(env.DATABASE_URL ?? '');
  const secret = await inTransaction(db, { by: 'service', cause: 'bench' }, async (trx) => {
    await lockClients(trx);
    const at = { title: name, callbackUrl: redirectUri, loginUrl: null, eventsUrl: null, listed: [] };
    const openid = { redirectUris: [redirectUri], postLogoutUris: [], backChannelUri: null };
    const roles = ['admin', 'merchant', 'customer'];
    const facts = { ...at, ...openid, roles, needsFactor: false, pkce: 'required', auth: 'secret' };
    const deps = { config: readConfig(env), now: () => new Date() };
    return addClient(trx, deps, { name, kind: 'openid', facts });
  });
  await close();
  await client.query(`insert into client_users (user_id, client, since)
    select user_id, '${name}', now() - interval '1 day' from sessions`);
  return secret;
}

let serial = 0;

async function measureAuthorize(
  server: Server,
  { client, people }: BenchDatabase,
  postgresCpuMs: () => Promise<number>,
): Promise<Measured> {
  await client.query('truncate oidc_grants');
  const query = new URLSearchParams({
    ...{ client_id: name, redirect_uri: redirectUri, response_type: 'code', scope: scope.join(' ') },
    ...{ state: 'the state of a login', nonce: 'the nonce of a login' },
    ...{ code_challenge: challenge, code_challenge_method: 'S256' },
  });
  const ask = (): Asked => ({
    method: 'GET',
    path: `/oauth/authorize?${query}`,
    headers: { cookie: `__Host-identity_session=${tokenOf(1 + (serial++ % people))}` },
  });
  return measure(server, ask, { seconds, expected: 303, postgresCpuMs });
}

async function measureToken(
  server: Server,
  { client, people }: BenchDatabase,
  secret: string,
  postgresCpuMs: () => Promise<number>,
): Promise<Measured> {
  await client.query('truncate oidc_grants');
  await client.query('set session_replication_role = replica');
  await client.query(`delete from launches where client = '${name}'`);
  await client.query('reset session_replication_role');
  const first = serial;
  await client.query(
    `insert into oidc_grants (id, client_id, session_id, code_hash, redirect_uri, scope, nonce, challenge, created_at)
    select gen_random_uuid(), (select id from clients where name = '${name}'), s.id,
      sha256(convert_to('code-' || (${first} + s.n - 1), 'UTF8')), $1, $2, 'the nonce of a login', $3, now()
    from (select id, row_number() over (order by id) as n from sessions) s where s.n <= ${Math.min(codes, people)}`,
    [redirectUri, scope, challenge],
  );
  await client.query('vacuum analyze oidc_grants, launches');
  const authorization = `Basic ${Buffer.from(`${name}:${secret}`).toString('base64')}`;
  const ask = (): Asked => ({
    method: 'POST',
    path: '/oauth/token',
    headers: { authorization, 'content-type': 'application/x-www-form-urlencoded' },
    body: String(
      new URLSearchParams({
        ...{ grant_type: 'authorization_code', code: `code-${serial++}` },
        ...{ redirect_uri: redirectUri, code_verifier: verifier },
      }),
    ),
  });
  return measure(server, ask, { seconds, expected: 200, postgresCpuMs });
}

const keys = new Map<string, Promise<CryptoKey>>();

/** Returns the CPU of one signature, as the service makes it. */
async function timeSignature(algorithm: string): Promise<number> {
  const made = keys.get(algorithm) ?? generateKeyPair(algorithm).then(({ privateKey }) => privateKey);
  keys.set(algorithm, made);
  const key = await made;
  const claims = {
    ...{
      iss: 'https://id.bench.test',
      aud: name,
      sub: crypto.randomUUID(),
      iat: 1e9,
      exp: 1e9,
      amr: ['pwd'],
    },
    ...{ sid: 's'.repeat(32), auth_time: 1e9, at_hash: 'a'.repeat(22), nonce: 'the nonce of a login' },
    ...{ name: 'User 1', email: 'user-1@example.com', email_verified: true },
  };
  const times = 300;
  const before = process.cpuUsage();
  for (let n = 0; n < times; n++)
    await new SignJWT(claims).setProtectedHeader({ alg: algorithm, kid: name, typ: 'JWT' }).sign(key);
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000 / times;
}
