// The fake services of the kits for PHP and Python, compared with a launch of the real one. Needs php-cli and python3.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { expectAsAtRealService } from '../support/clients/real-launch.ts';

const run = promisify(execFile);
const cwd = fileURLToPath(new URL('../../clients', import.meta.url));

const programs = {
  php: [
    '-r',
    `require 'php/autoload.php';
    [, $url, $origin, $launch] = $argv;
    $our = Identity\\Configuration::fromUrl($url, $origin, new Identity\\MemoryNonces());
    echo (new Identity\\FakeIdentity($our))->handOff($launch);`,
    '--',
  ],
  python3: [
    '-c',
    `import sys
sys.path.insert(0, 'python')
import identity_client as kit
_, url, origin, launch = sys.argv
print(kit.fake_identity.hand_off(kit.Config.from_url(url, origin, nonces=kit.MemoryStore()), launch), end='')`,
  ],
};

it.each(Object.entries(programs))(
  '%s: a launch of the real service gives what the fake gives (contract 13.76)',
  (command, args) =>
    expectAsAtRealService(async ({ issuer, origin, secret, launch }) => {
      const url = issuer.replace('//', `//shop:${secret}@`);
      const env = { ...process.env, PYTHONDONTWRITEBYTECODE: '1' };
      const { stdout, stderr } = await run(command, [...args, url, origin, launch], { cwd, env });
      expect(stderr).toBe('');
      return stdout;
    }),
);
