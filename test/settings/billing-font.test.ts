import { readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { sharedFolder } from '../support/run/shared.ts';

const builtIn = new Uint8Array(readFileSync('node_modules/dejavu-fonts-ttf/ttf/DejaVuSansCondensed.ttf'));
const folder = await sharedFolder();
beforeAll(async () => {
  await writeFile(join(folder, 'right.ttf'), builtIn);
  await writeFile(join(folder, 'web.woff'), 'wOFF and so on');
  await writeFile(join(folder, 'empty.ttf'), '');
});

const read = (name: string) => readConfig({ BILLING_FONT_FILE: join(folder, name) }).billingFont;

describe('BILLING_FONT_FILE', () => {
  it('is read at the start', () => {
    // `toEqual` would take seconds for so many bytes.
    expect(Buffer.compare(read('right.ttf'), builtIn)).toBe(0);
    expect(Buffer.compare(readConfig({}).billingFont, builtIn)).toBe(0);
  });

  it.each([
    ['web.woff', 'must name a TTF file'],
    ['empty.ttf', 'must name a TTF file'],
    ['missing.ttf', 'must name a file that can be read, of 32 MiB at most'],
    ['', 'must name a file that can be read, of 32 MiB at most'],
  ])('is refused where it names %j', (name, says) => {
    expect(() => read(name)).toThrow(`BILLING_FONT_FILE ${says}`);
  });
});
