// Generated bodies: forms, JSON, bytes, and messages of the marketplace and the CRM with something odd in them.

import type { Config } from '../../../server/settings/config.ts';
import { createNonce } from '../../../server/sso/envelope.ts';
import { nest, setMember, type Wire } from '../run/cases.ts';
import { fc } from '../run/random.ts';
import { encodeFields, fieldName, fields, oddText, text } from './odd-text.ts';

export type Bytes = Uint8Array<ArrayBuffer>;
export type Body = { type: string | undefined; bytes: Bytes | undefined };

const toBytes = (value: string): Bytes => new TextEncoder().encode(value);

const superjson = fc.record({
  json: fc.oneof(fc.dictionary(fieldName, text, { maxKeys: 4 }), fc.jsonValue()),
  meta: fc.option(
    fc.record({
      values: fc.dictionary(
        oddText,
        fc.constantFrom(['Date'], ['undefined'], ['map', {}], ['class', 'x'], 7),
      ),
    }),
    { nil: undefined },
  ),
});

const jsonText = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .oneof(
        fc.jsonValue({ stringUnit: 'binary', maxDepth: 3 }),
        fc.dictionary(fieldName, fc.oneof(text, fc.jsonValue({ maxDepth: 1 })), { maxKeys: 6 }),
        superjson,
      )
      .map((value) => JSON.stringify(value)),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      ...[nest(10), nest(17), nest(5_000), '{"a":1,"a":2}', '{"__proto__":{"x":1}}', '{', '"\\ud800"'],
      ...['{"json":{"__proto__":[]}}', '1e999999', `[${'9'.repeat(5_000)}]`, '\ufeff{}', '{}\0', 'nul'],
    ),
  },
);

const form = fc
  .oneof(
    fields,
    // No name comes twice here, because a form with a repeated name is refused before anything is read.
    fc.uniqueArray(fc.tuple(fieldName, text), { selector: ([name]) => name, maxLength: 6 }),
  )
  .map((all) => ({ type: 'application/x-www-form-urlencoded', bytes: toBytes(encodeFields(all)) }));

const multipart = fc.tuple(fields, fc.boolean(), fc.boolean()).map(([all, isFile, isWhole]) => {
  const parts = all.map(([name, value]) => {
    const file = isFile ? `; filename="${value}"` : '';
    return `--odd\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`;
  });
  const bytes = toBytes(parts.join('') + (isWhole ? '--odd--\r\n' : ''));
  return { type: 'multipart/form-data; boundary=odd', bytes };
});

const rawTypes = [
  'application/json',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data',
];
const raw = fc
  .tuple(fc.constantFrom(...rawTypes), fc.uint8Array({ maxLength: 200 }))
  .map(([type, bytes]) => ({ type, bytes: new Uint8Array(bytes) }));

const large = fc.constantFrom(65_535, 65_536, 65_537, 200_000).map((size) => ({
  type: 'application/x-www-form-urlencoded',
  bytes: toBytes(`email=${'x'.repeat(size - 6)}`),
}));

export const body: fc.Arbitrary<Body> = fc.oneof(
  { weight: 2, arbitrary: fc.constant({ type: undefined, bytes: undefined }) },
  { weight: 6, arbitrary: form },
  {
    weight: 4,
    arbitrary: jsonText.map((value) => ({ type: 'application/json', bytes: toBytes(value) })),
  },
  { weight: 2, arbitrary: multipart },
  { weight: 1, arbitrary: raw },
  { weight: 1, arbitrary: large },
);

/** Generates messages: usual ones with a few members changed, and values that are no message at all. */
function messages(build: () => Wire, paths: string[]): fc.Arbitrary<Bytes> {
  const value = fc.oneof(
    text,
    fc.jsonValue({ stringUnit: 'binary', maxDepth: 2 }),
    fc.constantFrom(undefined, Number.MAX_SAFE_INTEGER, -1, 1e300, 0.5),
  );
  const changes = fc.array(fc.tuple(fc.constantFrom(...paths), value), { maxLength: 3 });
  return fc.oneof(
    { weight: 6, arbitrary: changes.map((all) => toBytes(JSON.stringify(change(build(), all)))) },
    { weight: 1, arbitrary: jsonText.map(toBytes) },
    { weight: 1, arbitrary: fc.uint8Array({ maxLength: 300 }).map((bytes) => new Uint8Array(bytes)) },
  );
}

function change(message: Wire, changes: [string, unknown][]): Wire {
  for (const [path, value] of changes) {
    try {
      setMember(message, path, value);
    } catch {
      // An earlier change has removed the parent of this member, so there is nothing to change.
    }
  }
  return message;
}

const secondsFromNow = (seconds: number) => Math.floor(Date.now() / 1_000) + seconds;

export const handOffs = ({ issuer, marketplaceInbound }: Config) =>
  messages(
    () => ({
      iss: marketplaceInbound?.issuer,
      aud: issuer,
      client: 'marketplace',
      iat: secondsFromNow(0),
      exp: secondsFromNow(200),
      nonce: createNonce(),
      profile: {
        id: crypto.randomUUID(),
        email: `${crypto.randomUUID()}@example.test`,
        name: 'Fuzz',
        role: 'customer',
        account: { capabilities: [], name: 'Fuzz' },
        profile_updated_at: '2026-01-01T00:00:00.000Z',
      },
    }),
    [
      ...['iss', 'aud', 'client', 'iat', 'exp', 'nonce', 'return_to', 'profile', 'profile.id', 'more'],
      ...['profile.email', 'profile.email_verified', 'profile.name', 'profile.role', 'profile.account'],
      ...['profile.account.capabilities', 'profile.account.name', 'profile.profile_updated_at'],
      ...['profile.__proto__', 'profile.account.__proto__'],
    ],
  );

/** The body of a message of the CRM. */
export const signups = () =>
  messages(
    () => ({
      signup_id: crypto.randomUUID(),
      occurred_at: new Date().toISOString(),
      user: { email: `${crypto.randomUUID()}@example.test`, name: 'Fuzz' },
      account: { name: 'Fuzz' },
      contract: {
        plan: 'starter',
        status: 'active',
        price: { currency: 'EUR', unit_amount: 1, interval: 'month' },
      },
    }),
    [
      ...['signup_id', 'occurred_at', 'user', 'user.email', 'user.name', 'account', 'account.name', 'more'],
      ...['contract', 'contract.plan', 'contract.status', 'contract.trial_ends_at', 'contract.price'],
      ...['contract.price.currency', 'contract.price.unit_amount', 'contract.price.interval'],
      'user.__proto__',
    ],
  );
