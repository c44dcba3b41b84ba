import { execFile, spawnSync } from 'node:child_process';
import { mkdir, readdir, rm, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { production } from '../support/app/settings.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { isOurFile, readOurFile } from '../support/project/documents.ts';

it('the unit for systemd starts what there is, on the port that its name says', () => {
  const unit = readOurFile('docs/operate/files/identity@.service').replaceAll('%i', '3001');
  const [, program, script = ''] = /^ExecStart=(\S+) (\S+)$/m.exec(unit) ?? [];
  expect(program).toBe('/usr/bin/node');
  expect(isOurFile(script)).toBe(true);
  const [, words = ''] = /^Environment=(.*)$/m.exec(unit) ?? [];
  const environment = Object.fromEntries(words.split(' ').map((word) => word.split('=')));
  expect(Object.keys(environment).filter((name) => !listSettings().includes(name))).toEqual([]);
  expect(readConfig({ ...production, ...environment })).toMatchObject({ production: true, port: 3001 });
});

it('the unit for backups runs the command into the folder that it makes, when the timer says', () => {
  const unit = readOurFile('docs/operate/files/identity-backup.service');
  const [, folder] = /^StateDirectory=(\S+)$/m.exec(unit) ?? [];
  const [, script = '', into] = /^ExecStart=\/usr\/bin\/node (\S+) backup (\S+)$/m.exec(unit) ?? [];
  expect(isOurFile(script)).toBe(true);
  expect(into).toBe(`/var/lib/${folder}`);
  // A timer without a name in `Unit=` starts the unit of its own name.
  expect(readOurFile('docs/operate/files/identity-backup.timer')).toMatch(/^OnCalendar=\S+ \S+$/m);
});

it('the unit for backups clears away old backups and nothing else, also if its folder is a link to another disk', async () => {
  const folder = await makeFolder();
  const [made, link] = [join(folder, 'disk'), join(folder, 'identity-backups')];
  for (const name of ['20261101T031500.123Z', '20261128T031500.123Z', 'lost+found', 'before-the-move'])
    await mkdir(join(made, name), { recursive: true });
  await symlink(made, link);
  const longAgo = new Date(Date.now() - 20 * 86_400_000);
  for (const name of ['20261101T031500.123Z', 'lost+found', 'before-the-move'])
    await utimes(join(made, name), longAgo, longAgo);
  const [, command = ''] =
    /^ExecStartPost=(.*)$/m.exec(readOurFile('docs/operate/files/identity-backup.service')) ?? [];
  expect(command).toContain('/var/lib/identity-backups');
  await run('sh', ['-ec', command.replace('/var/lib/identity-backups', link)]);
  expect(await readdir(made)).toEqual(['20261128T031500.123Z', 'before-the-move', 'lost+found']);
  await rm(folder, { recursive: true });
});

it('the unit, the image and the scripts bound the heap alike', () => {
  const bound = '--max-old-space-size=256';
  expect(readOurFile('docs/operate/files/identity@.service')).toContain(
    `\nEnvironment=NODE_OPTIONS=${bound}\n`,
  );
  expect(readOurFile('Dockerfile')).toContain(`\nENV NODE_OPTIONS=${bound}\n`);
  const { scripts } = JSON.parse(readOurFile('package.json'));
  for (const name of ['start', 'start:deno', 'serve']) expect(scripts[name], name).toContain(bound);
});

const run = promisify(execFile);
// From version 250 on, systemd-analyze reads a unit that is not installed.
const { stdout: version } = spawnSync('systemd-analyze', ['--version'], { encoding: 'utf8' });
const isThere = Number(/^systemd (\d+)/.exec(version ?? '')?.[1]) >= 250;

it.skipIf(!isThere)(
  `${isThere ? '' : 'NOT RUN, because systemd-analyze 250 is missing: '}systemd takes every line of the unit, and finds it hard to break out of`,
  async () => {
    const folder = await makeFolder();
    const file = join(folder, 'identity@3000.service');
    const unit = readOurFile('docs/operate/files/identity@.service')
      .replace('/usr/bin/node', process.execPath)
      .replace('User=identity', 'User=daemon')
      .replace('/opt/identity', '/');
    await writeFile(file, unit);
    const verified = await run('systemd-analyze', ['verify', file]);
    // systemd only warns about a line that it does not know.
    const warnings = verified.stderr.split('\n').filter((line) => line.includes('identity@3000.service'));
    expect(warnings).toEqual([]);
    const args = ['security', '--offline=yes', '--no-pager', '--threshold=15', file];
    const { stdout } = await run('systemd-analyze', args, { env: { ...process.env, COLUMNS: '200' } });
    expect(stdout).toMatch(/Overall exposure level for identity@3000\.service: [01]\.\d/);
    await rm(folder, { recursive: true });
  },
);

it('the unit has a bound of memory that leaves room for what the documents say', () => {
  const [, bound = ''] =
    /^MemoryMax=(\d+)M$/m.exec(readOurFile('docs/operate/files/identity@.service')) ?? [];
  const [, most = ''] = /\*\*(\d+) MB\*\* at the most/.exec(readOurFile('docs/operate/sizing.md')) ?? [];
  expect(Number(bound)).toBeGreaterThanOrEqual(2 * Number(most));
  expect(Number(most)).toBeGreaterThan(100);
});
