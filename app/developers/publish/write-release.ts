// `npm run release -- [FOLDER]` writes what a release publishes beside its commit: the kits' archives, a list of all packages
// (CycloneDX), and the SHA-256 digest of each. Without FOLDER, it writes to `release`.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { buildFile } from './plugin.ts';
import { files } from './published.ts';

const [, , folder = 'release'] = process.argv;

// `--omit=dev` would leave out packages that the tests need, even if the service needs them, too.
const readPackages = () =>
  execFileSync('npm', ['sbom', '--sbom-format=cyclonedx', '--sbom-type=application'], { maxBuffer: 2 ** 27 });

const content: [name: string, bytes: Uint8Array][] = [
  ...files.map((file): [string, Uint8Array] => [file.name, buildFile(file)]),
  ['identity-service.cdx.json', readPackages()],
];
const digests = content.map(
  ([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}\n`,
);

mkdirSync(folder, { recursive: true });
for (const [name, bytes] of content) writeFileSync(join(folder, name), bytes);
writeFileSync(join(folder, 'SHA256SUMS'), digests.join(''));
