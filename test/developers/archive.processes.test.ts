import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { unzipSync } from 'fflate';
import { beforeAll, expect, it } from 'vitest';
import { buildArchive } from '../../app/developers/publish/archive.ts';
import { files } from '../../app/developers/publish/published.ts';
import { sharedFolder } from '../support/run/shared.ts';

const folder = await sharedFolder();
const release = join(await sharedFolder(), 'new');
beforeAll(() => {
  for (const path of ['src', 'tests', '__pycache__', 'kit', '.cache']) mkdirSync(join(folder, path));
  for (const path of [
    'README.md',
    'src/b.php',
    'src/a.php',
    'tests/a.test.php',
    '__pycache__/a.pyc',
    'kit/c.php',
    '.cache/d',
    '.env',
  ])
    writeFileSync(join(folder, path), path);
  symlinkSync('/etc/passwd', join(folder, 'src/passwd'));
});

it('holds the files of its folders, and no tests, nothing that tools left behind or that leads elsewhere', () => {
  const archive = buildArchive([
    ['kit-x', folder],
    ['kit-x/kit', join(folder, 'src')],
  ]);
  const content = Object.entries(unzipSync(archive)).map(([path, bytes]) => [
    path,
    new TextDecoder().decode(bytes),
  ]);
  expect(content).toEqual([
    ['kit-x/README.md', 'README.md'],
    ['kit-x/src/a.php', 'src/a.php'],
    ['kit-x/src/b.php', 'src/b.php'],
    ['kit-x/kit/a.php', 'src/a.php'],
    ['kit-x/kit/b.php', 'src/b.php'],
  ]);
});

it('has the same bytes whenever and wherever it is built', () => {
  const bytes = () => Buffer.from(buildArchive([['kit', folder]])).toString('hex');
  const before = bytes();
  utimesSync(join(folder, 'README.md'), 0, 0);
  expect(bytes()).toBe(before);
  // Times in the archive have no zone, so the bytes must not depend on the machine's zone.
  const module = fileURLToPath(new URL('../../app/developers/publish/archive.ts', import.meta.url));
  const program = `import { buildArchive } from ${JSON.stringify(module)};
    process.stdout.write(Buffer.from(buildArchive([['kit', ${JSON.stringify(folder)}]])).toString('hex'));`;
  for (const TZ of ['Pacific/Kiritimati', 'Pacific/Pago_Pago']) {
    const args = ['--import', 'tsx', '--input-type=module', '--eval', program];
    expect(execFileSync(process.execPath, args, { env: { ...process.env, TZ }, encoding: 'utf8' })).toBe(
      before,
    );
  }
});

it('changes with what is in it', () => {
  const before = buildArchive([['kit', folder]]);
  writeFileSync(join(folder, 'README.md'), 'Edited.');
  expect(buildArchive([['kit', folder]])).not.toEqual(before);
});

it('is written for a release, with a list of the packages and the digests of all', () => {
  execFileSync('npm', ['run', '--silent', 'release', '--', release]);
  const read = (name: string) => readFileSync(join(release, name), 'utf8');
  const digests = read('SHA256SUMS').trimEnd().split('\n');
  const names = digests.map((line) => line.slice(66));
  expect(readdirSync(release).sort()).toEqual([...names, 'SHA256SUMS'].sort());
  expect(names).toEqual([...files.map(({ name }) => name), 'identity-service.cdx.json']);
  for (const [at, name] of names.entries()) {
    const digest = createHash('sha256')
      .update(readFileSync(join(release, name)))
      .digest('hex');
    expect(digests[at]).toBe(`${digest}  ${name}`);
  }
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const listed = JSON.parse(read('identity-service.cdx.json')).components.map((each: { purl: string }) =>
    decodeURIComponent(each.purl),
  );
  for (const [name, version] of Object.entries(dependencies))
    expect(listed).toContain(`pkg:npm/${name}@${version}`);
});
