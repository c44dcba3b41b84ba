// The kit for Python: its own tests, its types and its archive; and its example as a site of the real service. Needs Debian's
// python3-venv, mypy, python3-psycopg, python3-pymysql, python3-mysqldb and mariadb-server.
import { execFile } from 'node:child_process';
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, inject, it } from 'vitest';
import { buildArchive } from '../../app/developers/publish/archive.ts';
import { files } from '../../app/developers/publish/published.ts';
import { pythonEnv as env, kit, openPythonSite, python } from '../support/clients/python-site.ts';
import { customer, openShop, startLogin, testExample } from '../support/clients/shop.ts';
import { socketOf, startMariadb } from '../support/database/mariadb.ts';
import { cloneDatabase, makeFolder } from '../support/database/postgres.ts';
import { requirePrograms } from '../support/machines/programs.ts';
import { shared } from '../support/run/shared.ts';

const run = promisify(execFile);
const secret = 'a-secret-for-my-machine';
const packages = '/usr/lib/python3/dist-packages';

describe('the kit', () => {
  it('passes its own tests without a warning, on SQLite, Postgres and MariaDB (contract 13.131)', async () => {
    requirePrograms(
      '/usr/sbin/mariadbd',
      `${packages}/psycopg`,
      `${packages}/pymysql`,
      `${packages}/MySQLdb`,
    );
    const folder = await makeFolder();
    const [postgres, mariadb] = await Promise.all([
      cloneDatabase(inject('templateUrl')),
      startMariadb(folder, 'shop'),
    ]);
    try {
      const given = { unix_socket: socketOf(folder), user: 'root', database: 'shop' };
      const { stdout, stderr } = await run(
        python,
        ['-W', 'error', '-m', 'unittest', 'discover', '-s', 'tests', '-t', '.'],
        {
          cwd: kit,
          env: {
            ...env,
            IDENTITY_TEST_POSTGRES: postgres.url,
            IDENTITY_TEST_MYSQL: JSON.stringify(given),
          },
        },
      );
      expect(stdout).toBe('');
      expect(stderr).toMatch(/^\.+\n-+\nRan \d{3,} tests in [\d.]+s\n\nOK\n$/);
    } finally {
      await Promise.all([postgres.drop(), mariadb.stop()]);
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('has types that are right for mypy --strict', async () => {
    requirePrograms('/usr/bin/mypy');
    const { stdout } = await run('/usr/bin/mypy', ['--cache-dir', '/dev/null'], { cwd: kit, env });
    expect(stdout).toContain('Success: no issues found');
  });

  it('installs by pip from its archive, in a new environment and without network (contract 13.134)', async () => {
    const version = (await readFile(join(kit, 'VERSION'), 'utf8')).trim();
    expect(version).toMatch(/^\d+\.\d+\.\d+$/);
    expect(await readFile(join(kit, 'CHANGELOG.md'), 'utf8')).toContain(`\n## ${version}\n`);
    const folder = await makeFolder();
    try {
      const archive = files.find(({ name }) => name === 'identity-client-python.zip');
      if (!archive || !('folders' in archive)) throw new Error('there is no archive of the kit');
      await writeFile(join(folder, archive.name), buildArchive(archive.folders));
      const inFolder = {
        cwd: folder,
        env: { PATH: '/usr/bin:/bin', HOME: folder, NODE_ENV: 'test' as const },
      };
      await run(python, ['-m', 'venv', 'venv'], inFolder);
      // `--no-index` stands for a machine without a network: pip can fetch nothing that a build may need.
      await run('venv/bin/pip', ['install', '--no-index', `./${archive.name}`], inFolder);
      const code = `import importlib.metadata as kept, identity_client.sql as sql
print(sql.__file__, len(sql.list_tables()), kept.version("identity-client"), kept.requires("identity-client"))`;
      const { stdout } = await run('venv/bin/python', ['-c', code], inFolder);
      expect(stdout).toMatch(new RegExp(`^${folder}/venv/.*site-packages.* 5 ${version} None\n$`));
      await run('venv/bin/pip', ['uninstall', '--yes', 'identity-client'], inFolder);
      await expect(run('venv/bin/python', ['-c', code], inFolder)).rejects.toThrow('No module named');
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  });

  it('needs nothing but Python', async () => {
    expect(await readFile(join(kit, 'pyproject.toml'), 'utf8')).toContain('dependencies = []\n');
    const imports = await run('grep', ['-rhoE', '^ *(from|import) [a-z0-9_]+', `${kit}identity_client`]);
    const modules = imports.stdout
      .trim()
      .split('\n')
      .map((line) => line.trim().split(' ')[1] ?? '');
    const code = `import sys; print(all(name in sys.stdlib_module_names for name in ${JSON.stringify(modules)}))`;
    expect((await run(python, ['-c', code])).stdout).toBe('True\n');
  });

  it('has an example of 30 lines or fewer', async () => {
    expect(
      (await readFile(join(kit, 'example.py'), 'utf8')).trimEnd().split('\n').length,
    ).toBeLessThanOrEqual(30);
  });
});

describe('the example, at the real service,', () => {
  const shop = shared(() =>
    openShop({ host: 'localhost', secret }, ({ port, sitePort }) =>
      openPythonSite([join(kit, 'example.py')], `http://localhost:${sitePort}`, {
        IDENTITY_URL: `http://shop:${secret}@localhost:${port}`,
        PORT: String(sitePort),
      }),
    ),
  );

  testExample(() => shop, 'Hello, ');

  it('logs why it refuses', async () => {
    const { browser, callback } = await startLogin(shop, await shop.app.login(customer));
    await browser.go(callback);
    const again = await browser.go(callback);
    const logged = `nonce_replayed, launch ${again.headers.get('identity-launch')}: The hand-off was used before. `;
    await expect.poll(shop.site.output, { timeout: 15_000, interval: 100 }).toContain(logged);
    expect(shop.site.output()).toContain(` ${shop.issuer}/developers/refusals#nonce_replayed\n`);
  });

  it('logs out here by a form only, and goes on to the logout of the service (contract 13.127)', async () => {
    const { browser, callback } = await startLogin(shop, await shop.app.login(customer));
    await browser.go(callback);
    expect((await browser.go('/logout')).status).toBe(405);
    const [, token = ''] = /name="token" value="([0-9a-f]{64})"/.exec((await browser.go('/')).text) ?? [];
    const logOut = (sent: string) => browser.go('/logout', 'POST', new URLSearchParams({ token: sent }));
    expect((await logOut('0'.repeat(64))).status).toBe(403);
    expect((await browser.go('/')).text).toContain('Hello, ');
    const { status, location } = await logOut(token);
    expect([status, location]).toEqual([303, `${shop.issuer}/logout?client=shop&return_to=%2F`]);
    expect((await browser.go('/')).text).toContain('Log in');
  });
});
