// The site that the README of the kit for PHP has its readers build: its samples, as they stand there.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCodeBlocks, readOurFile } from './documents.ts';
import { openPhpSite, type PhpSite } from './php-site.ts';

const autoload = fileURLToPath(new URL('../../clients/php/autoload.php', import.meta.url));

/** `/calls` lists what events made it do with its sessions and users, and `/profiles` whose profiles it keeps. */
export async function openReadmeSite(port: number, issuer: string, secret: string): Promise<PhpSite> {
  const path = 'clients/php/README.md';
  const blocks = readCodeBlocks({ path, text: readOurFile(path) }).filter(
    ({ language }) => language === 'php',
  );
  const [configuration, login, callback, events, ...more] = blocks.map(({ code }) => code);
  if (!events || more.length > 0) throw new Error('the README has other samples than this expects');
  const before = `<?php
require '${autoload}';
$sessions = $users = new class {
    public function __call(string $name, array $values): void
    {
        usleep(20_000);
        file_put_contents(getenv('DATA') . '/calls', "$name\\n", FILE_APPEND);
    }
};
${configuration}
`
    .replaceAll('https://id.example.com', issuer)
    .replaceAll('https://shop.example.com', `http://127.0.0.1:${port}`)
    .replaceAll("'sqlite:/var/lib/shop/identity.sqlite'", "'sqlite:' . getenv('DATA') . '/identity.sqlite'");
  const router = `<?php
match (explode('?', $_SERVER['REQUEST_URI'])[0]) {
    '/login' => require __DIR__ . '/login.php',
    '/sso/callback' => require __DIR__ . '/callback.php',
    '/identity/events' => require __DIR__ . '/events.php',
    '/calls' => print(@file_get_contents(getenv('DATA') . '/calls')),
    '/profiles' => print(json_encode((new PDO('sqlite:' . getenv('DATA') . '/identity.sqlite'))
        ->query("select id from identity_profiles where profile <> ''")->fetchAll(PDO::FETCH_COLUMN))),
    default => [session_start(), print(json_encode($_SESSION))],
};
`;
  const folder = await mkdtemp(join(tmpdir(), 'identity-php-readme-'));
  const files = { login, callback, events };
  for (const [name, code] of Object.entries(files))
    await writeFile(join(folder, `${name}.php`), before + code);
  await writeFile(join(folder, 'router.php'), router);
  const drop = () => rm(folder, { recursive: true, force: true });
  const script = join(folder, 'router.php');
  const site = await openPhpSite(script, port, { IDENTITY_SECRET: secret }).catch(async (error) => {
    await drop();
    throw error;
  });
  return { ...site, close: () => site.close().finally(drop) };
}
