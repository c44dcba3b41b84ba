// docs/operate/files/identity: the command line as it is installed, with other paths and without a change of user.
import { spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { production } from '../support/app/settings.ts';
import { connect, emptyDatabase } from '../support/database/postgres.ts';
import { readOurFile } from '../support/project/documents.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'identity-installed-'));
});
afterAll(() => rm(folder, { recursive: true }));

/** Runs the script. The replacements must all be found, so that the test follows the file. */
function runInstalled(args: string[], { project = root, isRoot = true, env = {} } = {}) {
  const replacements: [string, string][] = [
    ['/etc/identity.env', join(folder, 'identity.env')],
    ['cd /opt/identity', `cd ${project}`],
    ['"$(id -u)"', isRoot ? '0' : '1000'],
    ['runuser -u identity -- ', ''],
  ];
  let script = readOurFile('docs/operate/files/identity');
  for (const [from, to] of replacements) {
    expect(script).toContain(from);
    script = script.replace(from, to);
  }
  const { status, stdout, stderr } = spawnSync('sh', ['-c', script, 'identity', ...args], {
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
  // Not that of the shell.
  expect(runInstalled(['settings', '--show']).stdout).toMatch(/^PORT +PORT +3007$/m);
  // With a space and angle brackets, as systemd reads it.
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
