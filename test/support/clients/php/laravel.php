<?php

// A site on Laravel 8 (Debian: php-laravel-framework) with the samples of the README.

use App\Http\Middleware\LogIn;
use Illuminate\Contracts\{Debug\ExceptionHandler, Http\Kernel};
use Illuminate\Foundation\{Application, Exceptions\Handler};
use Illuminate\Http\Request;
use Illuminate\Support\{Facades\Route, ServiceProvider};

require __DIR__ . '/samples.php';
require 'Illuminate/autoload.php';

$base = (string) getenv('DATA');
foreach (['bootstrap/cache', 'config', 'storage/framework/views', 'storage/framework/sessions', 'storage/logs'] as $folder) {
    is_dir("$base/$folder") || @mkdir("$base/$folder", 0o700, true);
}
openDatabase();
requireSample('namespace App\Http\Middleware');

final class Clients extends ServiceProvider
{
    public function register(): void
    {
        eval(sample('$this->app->singleton'));
    }

    public function boot(): void
    {
        Route::middleware('web')->group(fn() => eval(sample("Route::get('/orders', function (Illuminate")));
    }
}

final class HttpKernel extends Illuminate\Foundation\Http\Kernel
{
    protected $middleware = [LogIn::class, Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull::class];
    protected $middlewareGroups = ['web' => [
        Illuminate\Cookie\Middleware\EncryptCookies::class,
        Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse::class,
        Illuminate\Session\Middleware\StartSession::class,
        Illuminate\Foundation\Http\Middleware\VerifyCsrfToken::class,
    ]];
}

$settings = [
    'app' => ['env' => 'production', 'key' => str_repeat('k', 32), 'cipher' => 'AES-256-CBC', 'timezone' => 'UTC', 'locale' => 'en',
        'providers' => [
            Illuminate\Cookie\CookieServiceProvider::class,
            Illuminate\Database\DatabaseServiceProvider::class,
            Illuminate\Encryption\EncryptionServiceProvider::class,
            Illuminate\Filesystem\FilesystemServiceProvider::class,
            Illuminate\Session\SessionServiceProvider::class,
            Illuminate\View\ViewServiceProvider::class,
            Clients::class,
        ],
        'aliases' => ['DB' => Illuminate\Support\Facades\DB::class, 'Route' => Route::class]],
    'database' => ['default' => 'sqlite', 'connections' => ['sqlite' => ['driver' => 'sqlite', 'database' => "$base/identity.sqlite"]]],
    'logging' => ['default' => 'errorlog', 'channels' => ['errorlog' => ['driver' => 'errorlog']]],
    'services' => ['identity' => getenv('IDENTITY_URL')],
    'session' => ['driver' => 'file', 'files' => "$base/storage/framework/sessions", 'cookie' => 'laravel', 'lifetime' => 9, 'path' => '/',
        'lottery' => [0, 1], 'domain' => null, 'expire_on_close' => false, 'encrypt' => false, 'secure' => false, 'same_site' => 'lax'],
    'view' => ['paths' => [], 'compiled' => "$base/storage/framework/views"],
];
foreach ($settings as $name => $values) {
    // The file gets its name only when it is complete, because other processes may read it.
    file_put_contents("$base/config/$name" . getmypid(), '<?php return ' . var_export($values, true) . ';');
    rename("$base/config/$name" . getmypid(), "$base/config/$name.php");
}
$app = new Application($base);
$app->singleton(Kernel::class, HttpKernel::class);
$app->singleton(ExceptionHandler::class, Handler::class);
$kernel = $app->make(Kernel::class);
$response = $kernel->handle($request = Request::capture());
$response->send();
$kernel->terminate($request, $response);
