// `sslmode` and `sslrootcert` as in docs/operate/postgres.md, on a Postgres whose certificate is signed by an authority of the
// test.
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../../db/embedded/server.ts';
import { entryOf, findFreePort, type Runtime, run, startService } from '../support/app/process.ts';
import { connect, makeFolder } from '../support/database/postgres.ts';
import { makeCertificate } from '../support/machines/certificate.ts';
import { makeOwnFolder, writeOwnFile } from '../support/machines/programs.ts';

const day = 86_400_000;
const notAccepted = 'The certificate of the database is not accepted (';
const makeOwn = (name: string) =>
  makeCertificate(name, new Date(Date.now() - day), new Date(Date.now() + day));

let folders: string[];
let postgres: EmbeddedPostgres;
/** The authority that signed the certificate for `localhost`. `another` is a second authority with the same name. */
let authority: string;
let another: string;
beforeAll(async () => {
  const [data, files] = [await makeFolder(), await makeOwnFolder()];
  folders = [data, files];
  const [right, wrong] = [makeOwn('localhost'), makeOwn('localhost')];
  [authority, another] = [join(files, 'right.crt'), join(files, 'wrong.crt')];
  const key = join(files, 'right.key');
  await writeOwnFile(authority, right.cert);
  await writeOwnFile(key, right.key);
  await writeOwnFile(another, wrong.cert);
  postgres = await startEmbeddedPostgres(join(data, 'data'), {
    settings: { fsync: 'off', ssl: 'on', ssl_cert_file: authority, ssl_key_file: key },
  });
});
afterAll(async () => {
  await postgres?.stop();
  for (const folder of folders ?? []) await rm(folder, { recursive: true, force: true });
});

const urlOf = (host: string, query: string) =>
  `${postgres.url.replace('127.0.0.1', host)}?sslmode=verify-full${query}`;

describe.each<Runtime>(['node', 'deno'])('the service on %s', (runtime) => {
  it.each<[how: string, query: () => string, env: () => Record<string, string>]>([
    ['sslrootcert', () => `&sslrootcert=${authority}`, () => ({})],
    ['NODE_EXTRA_CA_CERTS', () => '', () => ({ NODE_EXTRA_CA_CERTS: authority })],
  ])('starts over TLS with the authority in %s', async (_, query, env) => {
    const DATABASE_URL = urlOf('localhost', query());
    const service = await startService(runtime, await findFreePort(), { DATABASE_URL, ...env() });
    const { db, close } = connect(postgres.url);
    const { rows } = await sql<{ ssl: boolean }>`
      select distinct ssl from pg_stat_ssl join pg_stat_activity using (pid)
      where application_name = 'identity-service' and pid <> pg_backend_pid()`.execute(db);
    await close();
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);
    expect(rows).toEqual([{ ssl: true }]);
  });

  it.each<[what: string, url: () => string, says: string]>([
    ['by an authority that it does not know', () => urlOf('localhost', ''), notAccepted],
    ['by another authority', () => urlOf('localhost', `&sslrootcert=${another}`), notAccepted],
    ['for another name', () => urlOf('127.0.0.1', `&sslrootcert=${authority}`), notAccepted],
    [
      'to be verified by a file that is not there',
      () => urlOf('localhost', '&sslrootcert=/nowhere/certificate.crt'),
      'A file that DATABASE_URL names cannot be read (ENOENT).',
    ],
  ])('does not start where the certificate is %s, and says so', async (_, url, says) => {
    const service = run(runtime, [entryOf[runtime]], {
      PORT: String(await findFreePort()),
      DATABASE_URL: url(),
    });
    expect(await service.exited).toBe(1);
    expect(service.output()).toContain(says);
  });
});
