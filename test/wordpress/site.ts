// A WordPress from Debian's packages with its own MariaDB, in a temporary folder. It has the plugin as the plugin's archive has
// it.
import { type ChildProcess, execFile, spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { cp, mkdir, readFile, rm, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { findFreePort } from '../support/app/process.ts';
import { clientFlags, socketOf, startMariadb } from '../support/database/mariadb.ts';
import { makeFolder } from '../support/database/postgres.ts';
import { giveAway, identity } from '../support/machines/programs.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const run = promisify(execFile);
const environment = { NODE_ENV: 'test' as const, PATH: '/usr/sbin:/usr/bin:/sbin:/bin' };

/** How to find out whether each package is installed. */
const packages = {
  wordpress: () => existsSync('/usr/share/wordpress/wp-login.php'),
  'mariadb-server': () => existsSync('/usr/sbin/mariadbd'),
  'php-cli': () => existsSync('/usr/bin/php'),
  'php-mysql': () =>
    spawnSync('/usr/bin/php', ['-r', 'exit(extension_loaded("mysqli") ? 0 : 1);']).status === 0,
};

export const administrator = {
  name: 'local-admin',
  password: 'a local password',
  email: 'owner@example.test',
};

/** The place where WordPress runs. Each test file starts with WordPress as it was just after its installation. */
export type Installation = { folder: string; port: number };

export type WordPress = {
  url: string;
  /** Runs PHP inside WordPress. Returns what the PHP code returns. */
  php: <T = unknown>(code: string) => Promise<T>;
  /** What PHP and WordPress have logged. */
  readLog: () => Promise<string>;
};

/** Starts a WordPress with the plugin, which is not active. */
export async function startWordPress(): Promise<Installation & { stop: () => Promise<void> }> {
  const missing = Object.entries(packages).flatMap(([name, isThere]) => (isThere() ? [] : [name]));
  if (missing.length > 0)
    throw new Error(`These tests need packages of Debian's: apt-get install ${missing.join(' ')}`);
  const folder = await makeFolder();
  const stops: (() => Promise<void>)[] = [];
  const stop = async () => {
    for (const each of stops.reverse()) await each();
    await rm(folder, { recursive: true, force: true });
  };
  try {
    const port = await findFreePort();
    const url = `http://127.0.0.1:${port}`;
    const database = startMariadb(folder, 'wordpress').then((server) => stops.push(server.stop));
    const starts = [database, copySite(folder, url)];
    // If one start fails, the other start must have ended before everything is stopped.
    await Promise.allSettled(starts);
    await Promise.all(starts);
    const php = await startPhp(folder, port);
    stops.push(() => end(php));
    await install(url);
    await run('sh', ['-c', `mariadb-dump ${clientFlags(folder)} wordpress > ${folder}/dump.sql`]);
    return { folder, port, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

export async function openWordPress({ folder, port }: Installation): Promise<WordPress> {
  await Promise.all([
    run('sh', [
      '-c',
      `mariadb ${clientFlags(folder)} -e 'drop database wordpress; create database wordpress'
        mariadb ${clientFlags(folder)} wordpress < ${folder}/dump.sql`,
    ]),
    truncate(join(folder, 'log')),
    rm(networkFlag(folder), { force: true }),
  ]);
  return {
    url: `http://127.0.0.1:${port}`,
    php: buildPhp(folder, port),
    readLog: () => readFile(join(folder, 'log'), 'utf8'),
  };
}

async function copySite(folder: string, url: string): Promise<void> {
  const site = join(folder, 'site');
  // The copy includes files of other packages, to which this package has links.
  await run('cp', ['-rL', '/usr/share/wordpress', site]).catch((error) => {
    // If a package is not installed, links to its files lead nowhere.
    if (!existsSync(join(site, 'wp-settings.php'))) throw error;
  });
  const plugin = join(site, 'wp-content', 'plugins', 'identity-login');
  await cp(join(root, 'clients/wordpress/identity-login'), plugin, { recursive: true });
  await cp(join(root, 'clients/php/src'), join(plugin, 'kit'), { recursive: true });
  // WordPress reports each mail as sent, but no mail leaves this WordPress.
  const always = join(site, 'wp-content', 'mu-plugins');
  await mkdir(always, { recursive: true });
  await writeFile(join(always, 'no-mail.php'), "<?php add_filter('pre_wp_mail', '__return_true');");
  await writeTheme(join(site, 'wp-content', 'themes', 'plain'));
  const all = {
    DB_NAME: 'wordpress',
    DB_USER: 'root',
    DB_PASSWORD: '',
    DB_HOST: `localhost:${socketOf(folder)}`,
    DB_CHARSET: 'utf8mb4',
    WP_HOME: url,
    WP_SITEURL: url,
    AUTH_KEY: 'a'.repeat(64),
    SECURE_AUTH_KEY: 'b'.repeat(64),
    LOGGED_IN_KEY: 'c'.repeat(64),
    NONCE_KEY: 'd'.repeat(64),
    AUTH_SALT: 'e'.repeat(64),
    SECURE_AUTH_SALT: 'f'.repeat(64),
    LOGGED_IN_SALT: 'g'.repeat(64),
    NONCE_SALT: 'h'.repeat(64),
    // Without this setting, each administration page would wait for wordpress.org.
    WP_HTTP_BLOCK_EXTERNAL: 1,
    DISABLE_WP_CRON: 1,
    WP_DEBUG: 1,
    WP_DEBUG_DISPLAY: 0,
  };
  const lines = Object.entries(all).map(([name, value]) => `define('${name}', ${phpText(value)});`);
  const config = `<?php
$table_prefix = 'wp_';
${lines.join('\n')}
if (is_file(${phpText(networkFlag(folder))})) {
  define('MULTISITE', true);
  define('SUBDOMAIN_INSTALL', false);
  define('DOMAIN_CURRENT_SITE', ${phpText(new URL(url).host)});
  define('PATH_CURRENT_SITE', '/');
}
define('WP_DEBUG_LOG', ${phpText(join(folder, 'log'))});
defined('ABSPATH') || define('ABSPATH', __DIR__ . '/');
require_once ABSPATH . 'wp-settings.php';
`;
  await writeFile(join(site, 'wp-config.php'), config);
  await writeFile(join(folder, 'log'), '');
  await mkdir(join(folder, 'compiled'));
  for (const name of ['log', 'compiled']) await giveAway(join(folder, name));
}

const networkFlag = (folder: string) => join(folder, 'network');

/** Makes the WordPress a network of sites. This ends when it is opened the next time. */
export async function makeNetwork({ folder, port }: Installation): Promise<void> {
  await buildPhp(
    folder,
    port,
  )(`
    global $wpdb;
    define('WP_INSTALLING_NETWORK', true);
    require_once ABSPATH . 'wp-admin/includes/upgrade.php';
    foreach ($wpdb->tables('ms_global') as $name => $table) { $wpdb->$name = $table; }
    install_network();
    populate_network(1, '127.0.0.1:${port}', ${phpText(administrator.email)}, 'Network', '/', false);`);
  await writeFile(networkFlag(folder), '');
}

/** Debian has WordPress' themes in other packages, so this writes a theme. */
async function writeTheme(theme: string): Promise<void> {
  await mkdir(theme, { recursive: true });
  await writeFile(join(theme, 'style.css'), '/* Theme Name: Plain */');
  const page = `<!doctype html><html lang="en"><title>Site</title><?php wp_head(); ?><body>
<?php while (have_posts()) { the_post(); the_content(); } ?>
<p id="who"><?php echo esc_html(wp_get_current_user()->user_login ?: 'nobody'); ?></p><?php wp_footer(); ?></body></html>`;
  await writeFile(join(theme, 'index.php'), page);
}

async function startPhp(folder: string, port: number): Promise<ChildProcess> {
  // The router acts as a web server with WordPress' own rules: it sends files as they are, and lets index.php answer everything
  // else.
  const router = `<?php
$path = parse_url($_SERVER['REQUEST_URI'], PHP_URL_PATH);
$file = $_SERVER['DOCUMENT_ROOT'] . $path;
if (is_dir($file) && is_file("$file/index.php") && $path !== '/') { $_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = rtrim($path, '/') . '/index.php'; chdir($file); require "$file/index.php"; return true; }
if (is_file($file)) { return false; }
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';
require $_SERVER['DOCUMENT_ROOT'] . '/index.php';
`;
  await writeFile(join(folder, 'router.php'), router);
  const args = [
    ...phpFlags(folder),
    '-S',
    `127.0.0.1:${port}`,
    '-t',
    join(folder, 'site'),
    join(folder, 'router.php'),
  ];
  const env = { ...environment, PHP_CLI_SERVER_WORKERS: '6' };
  // PHP has a process group of its own, so that a signal to the group ends its workers, too.
  const child = spawn('php', args, { ...identity, env, stdio: 'ignore', detached: true });
  await retry(() => fetch(`http://127.0.0.1:${port}/wp-includes/version.php`), child, "PHP's web server");
  return child;
}

/** PHP stores its compiled code, so that all processes share it. */
const phpFlags = (folder: string) =>
  [
    `error_log=${join(folder, 'log')}`,
    'display_errors=0',
    'opcache.enable_cli=1',
    `opcache.file_cache=${join(folder, 'compiled')}`,
    'opcache.validate_timestamps=0',
  ].flatMap((setting) => ['-d', setting]);

async function install(url: string): Promise<void> {
  const { name, password, email } = administrator;
  const form = new URLSearchParams({
    weblog_title: 'Site',
    user_name: name,
    admin_password: password,
    admin_password2: password,
    admin_email: email,
    Submit: 'Install WordPress',
  });
  const answer = await fetch(`${url}/wp-admin/install.php?step=2`, { method: 'POST', body: form });
  const text = await answer.text();
  if (!text.includes('WordPress has been installed')) throw new Error(`WordPress was not installed: ${text}`);
}

function buildPhp(folder: string, port: number): WordPress['php'] {
  return async (code) => {
    const script = `$_SERVER['HTTP_HOST'] = '127.0.0.1:${port}';
require ${phpText(join(folder, 'site', 'wp-load.php'))};
require_once ABSPATH . 'wp-admin/includes/admin.php';
switch_theme('plain');
echo json_encode((static function () { ${code} })());`;
    const { stdout } = await run('php', [...phpFlags(folder), '-r', script], {
      ...identity,
      env: environment,
    });
    return JSON.parse(stdout || 'null');
  };
}

export const phpText = (value: string | number) =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;

async function retry(work: () => Promise<unknown>, child: ChildProcess, what: string): Promise<void> {
  for (let tries = 0; tries < 300 && child.exitCode === null; tries++) {
    if (
      await work().then(
        () => true,
        () => false,
      )
    )
      return;
    await new Promise((done) => setTimeout(done, 100));
  }
  await end(child);
  throw new Error(`${what} did not start`);
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || !child.pid) return;
  const exited = new Promise((done) => child.once('exit', done));
  process.kill(-child.pid, 'SIGKILL');
  await exited;
}
