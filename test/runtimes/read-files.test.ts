// Runs the service with only the files that docs/operate/machine.md lists. The image copies the same files.
import { cp, mkdir, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, inject, it } from 'vitest';
import { findFreePort, heap, run, startService } from '../support/app/process.ts';
import { production } from '../support/app/settings.ts';
import { cloneDatabase } from '../support/database/postgres.ts';
import { readOurFile } from '../support/project/documents.ts';
import { sharedFolder } from '../support/run/shared.ts';

const [, list = ''] =
  /^### What the service reads\n([\s\S]*?)\n#/m.exec(readOurFile('docs/operate/machine.md')) ?? [];
const listed = [...list.matchAll(/^\| `([^`]+)` \|/gm)].map(([, path = '']) => path);
const font = listed.find((path) => path.endsWith('.ttf')) ?? '';

const folder = await sharedFolder();
beforeAll(async () => {
  for (const path of listed) {
    await mkdir(dirname(join(folder, path)), { recursive: true });
    await cp(path, join(folder, path), { recursive: true });
  }
});

describe('the files that the service reads', () => {
  it('are all that the image has', () => {
    const [, last = ''] = readOurFile('Dockerfile')
      .split(/^FROM .*$/m)
      .slice(-2);
    const copied = [...last.matchAll(/^COPY --from=build \/app\/(\S+) (\S+)$/gm)].map(
      ([, from = '']) => from,
    );
    const withoutSlash = listed.map((path) => path.replace(/\/$/, ''));
    expect(copied.filter((path) => !path.endsWith('/LICENSE')).sort()).toEqual(withoutSlash.sort());
  });

  it('are all that it needs to start', async () => {
    const { url, drop } = await cloneDatabase(inject('templateUrl'));
    const env = { ...production, ...heap, DATABASE_URL: url, HOST: '127.0.0.1', SHUTDOWN_DELAY_SECONDS: '0' };
    const service = await startService('node', await findFreePort(), env, folder);
    service.child.kill('SIGTERM');
    expect(await service.exited, service.output()).toBe(0);
    await drop();
  });

  // Contract 7.499.
  it('stop the start with a sentence if the font cannot be read', async () => {
    await rm(join(folder, font));
    const env = { ...production, ...heap } as Record<string, string>;
    const settings = run('node', ['build/service/cli.js', 'settings'], env, folder);
    expect(await settings.exited).toBe(1);
    const says = /BILLING_FONT_FILES lacks the font that comes with the service, which cannot be read: /;
    expect(settings.output()).toMatch(says);
    const service = run('node', ['server/runtime/start-node.cjs'], env, folder);
    expect(await service.exited).toBe(1);
    expect(service.output()).toMatch(says);
    expect(service.output()).not.toMatch(/^ +at /m);
  });
});
