// The site that readers of the PHP kit's README build: its samples, word for word.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readCodeBlocks, readOurFile } from '../project/documents.ts';
import { openPhpSite } from './php-site.ts';
import type { Site } from './shop.ts';

const autoload = fileURLToPath(new URL('../../../clients/php/autoload.php', import.meta.url));
const names = [
  'identity',
  'account',
  'page',
  'pull',
  'psr15',
  'symfony',
  'orders',
  'provider',
  'laravel',
  'route',
  'refuse',
  'own',
  'test',
  'hook',
];

/**
 * For tests, `/applied` lists the events that the site has applied, `/sessions` its sessions, and `/profiles` its people.
 * `/break-profiles` breaks the table of profiles.
 */
export async function openReadmeSite(port: number, issuer: string, secret: string): Promise<Site> {
  const path = 'clients/php/README.md';
  const blocks = readCodeBlocks({ path, text: readOurFile(path) }).filter(
    ({ language }) => language === 'php',
  );
  if (blocks.length !== names.length) throw new Error('the README has other samples than this expects');
  const samples = Object.fromEntries(names.map((name, at) => [name, blocks[at]?.code ?? '']));
  const router = `<?php
require '${autoload}';
function watchEvent(Identity\\Event $event): void
{
    usleep(20_000);
    file_put_contents(getenv('DATA') . '/applied', "$event->seq $event->type\\n", FILE_APPEND);
}
require_once __DIR__ . '/identity.php';
$list = fn(string $sql) => print(json_encode(
    (new PDO('sqlite:' . getenv('DATA') . '/identity.sqlite'))->query($sql)->fetchAll(PDO::FETCH_ASSOC)));
match (explode('?', $_SERVER['REQUEST_URI'])[0]) {
    '/login', '/sso/callback', '/logout', '/sso/events' => require __DIR__ . '/account.php',
    '/orders' => require __DIR__ . '/page.php',
    '/pull' => require __DIR__ . '/pull.php',
    '/applied' => print(@file_get_contents(getenv('DATA') . '/applied')),
    '/sessions' => $list('select sid, user_id from identity_sessions'),
    '/break-profiles' => $list('alter table identity_profiles rename column profile to away'),
    '/profiles' => $list("select id from identity_profiles where profile <> ''"),
    default => print($client->currentPerson($request)?->id ?? 'nobody'),
};
`;
  const folder = await mkdtemp(join(tmpdir(), 'identity-php-readme-'));
  const place = (code: string) =>
    code
      .replaceAll('https://shop.example.com', `http://127.0.0.1:${port}`)
      .replaceAll(
        "'sqlite:/var/lib/shop/identity.sqlite'",
        "'sqlite:' . getenv('DATA') . '/identity.sqlite'",
      );
  const watched = watch(samples.identity ?? '');
  for (const [name, code] of Object.entries({ ...samples, identity: watched }))
    await writeFile(join(folder, `${name}.php`), `<?php\n${place(code)}`);
  await writeFile(join(folder, 'router.php'), router);
  const drop = () => rm(folder, { recursive: true, force: true });
  const script = join(folder, 'router.php');
  const site = await openPhpSite(script, port, {
    IDENTITY_URL: issuer.replace('//', `//shop:${secret}@`),
  }).catch(async (error) => {
    await drop();
    throw error;
  });
  return { ...site, close: () => site.close().finally(drop) };
}

/**
 * Passes the function `watchEvent` to the kit. It lists each event and slows the read of events, so that other requests come
 * during a read.
 */
function watch(identity: string): string {
  const end = '$database);\n$request';
  if (!identity.includes(end))
    throw new Error('the README opens its client in another way than this expects');
  return identity.replace(end, "$database, 'watchEvent');\n$request");
}
