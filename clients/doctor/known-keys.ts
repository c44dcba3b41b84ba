// The keys that anybody can guess or look up.
import type { Target } from './target.ts';

/** Secrets from examples, and the texts that programs make of a missing setting. */
const placeholders = [
  ...[
    'SECRET',
    'secret',
    'Secret',
    'your-secret',
    'your_secret',
    'your-secret-here',
    'my-secret',
    'mysecret',
  ],
  ...[
    'shared-secret',
    'shared_secret',
    'sharedsecret',
    'supersecret',
    'super-secret',
    'topsecret',
    'dev-secret',
  ],
  ...[
    'changeme',
    'change-me',
    'change_me',
    'CHANGEME',
    'replace-me',
    'placeholder',
    'example',
    'todo',
    'TODO',
  ],
  ...['dev', 'development', 'test', 'testing', 'local', 'demo', 'default', 'key', 'password', 'admin', 'xxx'],
  ...['undefined', 'null', 'None', 'nil', 'false', 'NaN', '[object Object]', '0', '123456', ' '],
  'test-secret-do-not-use-0123456789ab',
  'next-secret-do-not-use-0123456789ab',
];

/** Each key, with its name for the report. HMAC pads keys with zeros, so a key of zeros equals the empty key. */
export function listKnownKeys({
  client,
  secrets,
  publicKeys = [],
  issuer,
}: Target): [string, words: string][] {
  const upper = client.toUpperCase();
  const ofClient = [client, upper, `${client}-secret`, `${client}_secret`, `SSO_${upper}_SECRET`, issuer];
  const named = [...new Set([...placeholders, ...ofClient])].map((key): [string, string] => [
    key,
    JSON.stringify(key),
  ]);
  const keys: [string, string][] = [
    ['\0', 'the empty key'],
    ...named,
    ...publicKeys.map((key): [string, string] => [key, 'a key that is published for local mode']),
  ];
  return keys.filter(([key]) => !secrets.includes(key));
}
