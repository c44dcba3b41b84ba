// docs/operate/files/identity: the script of the installed command line, here with other paths and without a change of user.
import { spawnSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { production } from '../support/app/settings.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { readOurFile } from '../support/project/documents.ts';
import { sharedFolder } from '../support/run/shared.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const folder = await sharedFolder();

/** Runs the script. Every replaced text must be in the file, so that the test notices if the file changes. */
function runInstalled(
  args: string[],
  { project = root, isRoot = true, env = {}, cwd = folder, asUser = '' } = {},
) {
  const replacements: [string, string][] = [
    ['/etc/identity.env', join(folder, 'identity.env')],
    ['cd /opt/identity', `cd ${project}`],
    ['"$(id -u)"', isRoot ? '0' : '1000'],
    ['runuser -u identity -- ', asUser],
  ];
  let script = readOurFile('docs/operate/files/identity');
  for (const [from, to] of replacements) {
    expect(script).toContain(from);
    script = script.replaceAll(from, to);
  }
  const { status, stdout, stderr } = spawnSync('bash', ['--norc', '-c', script, 'identity', ...args], {
    cwd,
    env: { PATH: process.env.PATH, NODE_ENV: 'test', PORT: '4711', ...env },
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

it('takes the settings of the service, in production mode', async () => {
  expect(runInstalled(['settings']).stderr).toMatch(/^identity: \S+identity\.env is missing: /);
  const lines = Object.entries(production).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(folder, 'identity.env'), `# The settings\n${lines.join('')}PORT=3007\n`);
  expect(runInstalled(['settings'])).toEqual({
    status: 0,
    stdout: 'The settings are right, for production.\n',
    stderr: '',
  });
  // The value is that of the file, not that of the shell's environment.
  expect(runInstalled(['settings', '--show']).stdout).toMatch(/^PORT +PORT +3007$/m);
  // The value has a space and angle brackets, as systemd reads it.
  expect(runInstalled(['settings', '--show']).stdout).toContain('Identity <identity@example.test>');
});

it('leaves in the audit who called sudo', async () => {
  const { url, drop } = await emptyDatabase(inject('templateUrl'));
  const { db, close } = connect(url);
  try {
    const lines = Object.entries({ ...production, DATABASE_URL: url }).map(
      ([name, value]) => `${name}=${value}\n`,
    );
    await writeFile(join(folder, 'identity.env'), lines.join(''));
    for (const env of [{ SUDO_USER: 'olga' }, {}])
      expect(runInstalled(['find', 'nobody'], { env })).toMatchObject({ status: 0 });
    const { rows } = await sql`select details ->> 'systemUser' as name from audit_events order by at`.execute(
      db,
    );
    expect(rows).toEqual([{ name: 'olga' }, { name: 'root' }]);
  } finally {
    await close();
    await drop();
  }
});

it('says what is missing', async () => {
  expect(runInstalled(['settings'], { isRoot: false })).toMatchObject({
    status: 1,
    stderr: 'identity: root runs this: try "sudo identity".\n',
  });
  expect(runInstalled(['settings'], { project: folder }).stderr).toMatch(
    /^identity: the service is not built: /,
  );
  expect(runInstalled(['settings'], { project: join(folder, 'none') }).stderr).toMatch(/is missing/);
  await writeFile(join(folder, 'identity.env'), 'PORT=3007\n');
  const { status, stderr } = runInstalled(['settings']);
  expect([status, stderr]).toEqual([1, expect.stringMatching(/^These settings are wrong:\n {2}/)]);
});

/** Writes the settings of a service whose database does not answer. */
const writeSettings = () =>
  writeFile(
    join(folder, 'identity.env'),
    Object.entries(production).map(([name, value]) => `${name}=${value}\n`),
  );

it('reads files from the folder that it is called in (contract 11.101)', async () => {
  await writeSettings();
  const cwd = join(folder, 'a folder');
  await mkdir(cwd);
  await writeFile(join(cwd, 'odd settings.json'), '{"seller":');
  const set = (file: string) => runInstalled(['billing:set', file, '--why', 'test'], { cwd }).stderr;
  expect(set('odd settings.json')).toMatch(/^The file odd settings\.json is not strict JSON: /);
  expect(set('../a folder/odd settings.json')).toMatch(/ is not strict JSON: /);
  expect(set('none.json')).toBe(`Cannot read the file ${cwd}/none.json: there is no such file (ENOENT).\n`);
});

/** Omits NODE_ENV=test, with which an outdated build would be rebuilt for tests. */
const runByNpm = (args: string[]) =>
  spawnSync('npm', ['run', '--silent', '--prefix', root, 'cli', '--', ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: folder } as object as NodeJS.ProcessEnv,
    encoding: 'utf8',
  });

it('reads files from the folder that npm is called in (contract 11.101)', async () => {
  await writeFile(join(folder, 'odd.json'), '{"seller":');
  const { stderr } = runByNpm(['billing:set', 'odd.json', '--why', 'test']);
  expect(stderr).toMatch(/^The file odd\.json is not strict JSON: /m);
});

it.each([
  ['identity', () => runInstalled(['find', '--nothing'])],
  ['npm run cli --', () => runByNpm(['find', '--nothing'])],
  [
    'node build/service/cli.js',
    () => spawnSync('node', ['build/service/cli.js', 'find', '--nothing'], { cwd: root, encoding: 'utf8' }),
  ],
])('says how %s is used, by that name', async (name, run) => {
  await writeSettings();
  expect(run().stderr).toContain(`\nUsage: ${name} find [options] [text]\n`);
});

// Whether root can become `nobody`, and whether `nobody` can read the service.
const nobody = 'runuser -u nobody -- ';
const hasNobody =
  process.getuid?.() === 0 &&
  spawnSync('sh', ['-c', `${nobody}test -r ${root}build/service/cli.js`]).status === 0;

describe.skipIf(!hasNobody)(`another user${hasNobody ? '' : ' (NOT RUN: only root can become one)'}`, () => {
  const run = (args: string[], cwd?: string) => runInstalled(args, { asUser: nobody, ...(cwd && { cwd }) });
  let closed: string;
  beforeAll(async () => {
    await chmod(folder, 0o755);
    closed = join(folder, 'closed');
    await mkdir(closed, { mode: 0o700 });
    await writeFile(join(closed, 'odd.json'), '{"seller":', { mode: 0o600 });
    await writeFile(join(closed, 'users.ndjson'), '{}\n', { mode: 0o600 });
  });

  it('gets the files of root open, and no other way into its folder (contract 11.102)', async () => {
    await writeSettings();
    const set = (file: string, cwd?: string) => run(['billing:set', file, '--why', 'test'], cwd).stderr;
    expect(set('odd.json', closed)).toMatch(/^The file odd\.json is not strict JSON: /);
    expect(set(join(closed, 'odd.json'))).toMatch(/ is not strict JSON: /);
    expect(run(['user:show', 'odd.json'], closed).stderr).toContain('Enter a valid email address');
  });

  it('says why a file cannot be read or written (contract 11.101)', async () => {
    await writeSettings();
    const { stderr } = run(['billing:set', 'none.json', '--why', 'test'], closed);
    expect(stderr).toBe(`Cannot read the file ${closed}/none.json: there is no such file (ENOENT).\n`);
    expect(run(['import', 'users.ndjson'], closed).stderr).toBe(
      `Cannot write the file ${closed}/users.ndjson.refused.ndjson: the user nobody may not (EACCES).\n`,
    );
    await chmod(join(folder, 'identity.env'), 0o600);
    expect(run(['settings']).stderr).toMatch(/^identity: the user identity may not read \S+: run "chown /);
  });
});
