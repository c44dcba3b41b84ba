// Chromium, unpacked once for the whole run from an npm package.
import { execFile } from 'node:child_process';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { makeFolder } from '../database/postgres.ts';

type UnpackedBrowser = { executablePath: string; env: Record<string, string> };

declare module 'vitest' {
  export interface ProvidedContext {
    browser: UnpackedBrowser;
  }
}

export default async function setUp(project: TestProject): Promise<() => Promise<void>> {
  const folder = await makeFolder();
  project.provide('browser', await unpack(folder));
  return () => rm(folder, { recursive: true, force: true });
}

const script = fileURLToPath(new URL('unpack-chromium.js', import.meta.url));

async function unpack(folder: string): Promise<UnpackedBrowser> {
  // The package looks for its font in /tmp/fonts only, and a page without a font crashes.
  await writeFile(
    join(folder, 'fonts.conf'),
    `<fontconfig><dir>${folder}/fonts</dir><cachedir>${folder}/fonts-cache</cachedir></fontconfig>`,
  );
  // In an environment like AWS Lambda's, the package brings system libraries and a font, which a bare Linux server may lack.
  // The package runs in a process of its own, because it changes its environment.
  const env = { ...process.env, TMPDIR: folder, AWS_EXECUTION_ENV: 'AWS_Lambda_nodejs20.x' };
  const { stdout } = await promisify(execFile)(process.execPath, [script], { env });
  const [executablePath, libraries] = JSON.parse(stdout);
  return { executablePath, env: { LD_LIBRARY_PATH: libraries, FONTCONFIG_PATH: folder } };
}
