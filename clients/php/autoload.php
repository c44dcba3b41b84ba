<?php

declare(strict_types=1);

// For sites without Composer: require this file once.
spl_autoload_register(static function (string $class): void {
    if (preg_match('/^Identity\\\\([A-Za-z0-9]+)$/D', $class, $found) && is_file(__DIR__ . "/src/$found[1].php")) {
        require __DIR__ . "/src/$found[1].php";
    }
});
