<?php

// The samples of the README of the kit for PHP, with the URLs of a test.

const KIT = __DIR__ . '/../../../../clients/php';
require KIT . '/autoload.php';
// PHP's own web server puts the page's path here. Frameworks expect the script's path, and derive their base path from it.
$_SERVER['SCRIPT_NAME'] = $_SERVER['PHP_SELF'] = '/index.php';

/** The sample that has these words. */
function sample(string $words, string $language = 'php'): string
{
    preg_match_all("/^```$language\n(.*?)^```$/ms", (string) file_get_contents(KIT . '/README.md'), $found);
    [$code] = array_values(array_filter($found[1], fn(string $code) => str_contains($code, $words)));
    return strtr($code, [
        'https://shop.example.com' => getenv('ORIGIN'),
        '/var/lib/shop/identity.sqlite' => getenv('DATA') . '/identity.sqlite',
    ]);
}

/** Runs a sample as a file, because frameworks look for the files of their classes. */
function requireSample(string $words): void
{
    $file = getenv('DATA') . '/' . md5($words) . getmypid() . '.php';
    file_put_contents($file, "<?php\n" . sample($words));
    require $file;
}

function openDatabase(): PDO
{
    $pdo = new PDO('sqlite:' . getenv('DATA') . '/identity.sqlite', options: [PDO::ATTR_TIMEOUT => 10]);
    Identity\Tables::create(new Identity\PdoDatabase($pdo));
    return $pdo;
}
