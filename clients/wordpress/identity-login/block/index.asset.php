<?php

return [
    'dependencies' => ['wp-blocks', 'wp-block-editor', 'wp-element', 'wp-server-side-render'],
    'version' => '1.1.0',
];
