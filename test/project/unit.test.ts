import { expect, it } from 'vitest';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { production } from '../support/app/settings.ts';
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

it('the unit, the image and the scripts bound the heap alike', () => {
  const bound = '--max-old-space-size=256';
  expect(readOurFile('docs/operate/files/identity@.service')).toContain(
    `\nEnvironment=NODE_OPTIONS=${bound}\n`,
  );
  expect(readOurFile('Dockerfile')).toContain(`\nENV NODE_OPTIONS=${bound}\n`);
  const { scripts } = JSON.parse(readOurFile('package.json'));
  for (const name of ['start', 'start:deno', 'serve']) expect(scripts[name], name).toContain(bound);
});
