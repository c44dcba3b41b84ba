<?php

// A site on Symfony (Debian: php-symfony-framework-bundle and php-symfony-yaml) with the samples of the README.

use Symfony\Bundle\FrameworkBundle\{FrameworkBundle, Kernel\MicroKernelTrait};
use Symfony\Component\DependencyInjection\Loader\Configurator\ContainerConfigurator;
use Symfony\Component\HttpFoundation\Request;
use Symfony\Component\HttpKernel\Kernel;
use Symfony\Component\Routing\Loader\Configurator\RoutingConfigurator;

require __DIR__ . '/samples.php';
foreach (['Bundle/FrameworkBundle', 'Component/Yaml'] as $part) {
    require "Symfony/$part/autoload.php";
}
openDatabase();
requireSample('AsEventListener');
requireSample('RedirectResponse');

final class Site extends Kernel
{
    use MicroKernelTrait;

    public function registerBundles(): array
    {
        return [new FrameworkBundle()];
    }

    public function getProjectDir(): string
    {
        return (string) getenv('DATA');
    }

    private function configureContainer(ContainerConfigurator $container): void
    {
        $file = $this->getProjectDir() . '/services' . getmypid() . '.yaml';
        file_put_contents($file, sample('services:', 'yaml'));
        $container->import($file);
        $container->extension('framework', ['secret' => 'a secret', 'session' => ['storage_factory_id' => 'session.storage.factory.native']]);
        $container->services()->defaults()->autowire()->autoconfigure()
            ->set(App\LogIn::class)
            ->set(App\Controller\Orders::class)->tag('controller.service_arguments');
    }

    private function configureRoutes(RoutingConfigurator $routes): void
    {
        $routes->import(App\Controller\Orders::class, 'annotation');
    }
}

$kernel = new Site('prod', false);
$request = Request::createFromGlobals();
$response = $kernel->handle($request);
$response->send();
$kernel->terminate($request, $response);
