// Messages of the CRM with a wrong credential, as data: each of the three headers, and the text that is signed.
import { at, type Change, header, refused, without } from './raw-signups.ts';

const signature = (spell: (mac: string) => string): Change => ({
  headers: (headers, mac) => headers.set('webhook-signature', spell(mac)),
});

/** `now` is the instant of the test, in Unix seconds. */
export const credentialCases = (now: number) =>
  refused(401, 'invalid_webhook_signature', {
    'no credential at all': {
      headers: (headers) => ['id', 'timestamp', 'signature'].map((name) => headers.delete(`webhook-${name}`)),
    },
    'no id': without('webhook-id'),
    'an empty id': { id: '' },
    'an id of 256 characters': { id: 'i'.repeat(256) },
    'an id with a dot': { id: 'msg.1' },
    'an id with a colon': { id: 'msg:1' },
    'an id with a space': { id: 'msg 1' },
    'an id with a slash': { id: 'msg/1' },
    'an id with an accent': { id: 'msg_é' },
    'an id changed after signing': header('webhook-id', 'msg_another'),
    'the id sent twice': {
      headers: (headers) => headers.append('webhook-id', headers.get('webhook-id') ?? ''),
    },
    // The signature covers id, timestamp and body as one text with dots between them. Here the text is the same, but its dots
    // separate other parts.
    'a piece of the timestamp moved into the id': {
      id: 'msg',
      timestamp: `${now}.x`,
      headers: (headers) => {
        headers.set('webhook-id', `msg.${now}`);
        headers.set('webhook-timestamp', 'x');
      },
    },
    'no timestamp': without('webhook-timestamp'),
    'an empty timestamp': { timestamp: '' },
    'a timestamp 301 s old': { timestamp: String(now - 301) },
    'a timestamp 301 s ahead': { timestamp: String(now + 301) },
    'a timestamp of a year ago': { timestamp: String(now - 365 * 24 * 3_600) },
    'a timestamp of nine digits': { timestamp: String(now).slice(1) },
    'a timestamp of eleven digits': { timestamp: `0${now}` },
    'a timestamp in milliseconds': { timestamp: String(now * 1_000) },
    'a timestamp with a fraction': { timestamp: `${now}.0` },
    'a timestamp with a fraction of ten characters': { timestamp: `${Math.floor(now / 100)}.5` },
    'a negative timestamp': { timestamp: `-${now}` },
    'a timestamp with a plus': { timestamp: `+${now}` },
    'a timestamp in hex': { timestamp: `0x${now.toString(16)}` },
    'a timestamp with an exponent': { timestamp: `${now / 1e9}e9` },
    'a timestamp as RFC 3339': { timestamp: at(now) },
    'a timestamp in superscript digits': { timestamp: String(now).replace(/^1/, '¹') },
    'a timestamp changed after signing': header('webhook-timestamp', String(now + 1)),
    'the timestamp sent twice': {
      headers: (headers) => headers.append('webhook-timestamp', String(now)),
    },
    'no signature': without('webhook-signature'),
    'an empty signature': signature(() => ''),
    'a signature without a version': signature((mac) => mac),
    'a signature without its base64': signature(() => 'v1,'),
    'a signature of version v1a': signature((mac) => `v1a,${mac}`),
    'a signature of version v2': signature((mac) => `v2,${mac}`),
    'a signature of version V1': signature((mac) => `V1,${mac}`),
    'a signature after = instead of a comma': signature((mac) => `v1=${mac}`),
    'an unpadded signature': signature((mac) => `v1,${mac.replace(/=+$/, '')}`),
    'a signature with too much padding': signature((mac) => `v1,${mac}=`),
    // The last character before the padding has two bits that belong to no byte.
    'a signature with loose bits': signature((mac) => `v1,${mac.replace(/(.)=$/, looseBits)}`),
    'a signature in the URL-safe alphabet': signature(
      (mac) => `v1,${mac.replaceAll('+', '-').replaceAll('/', '_')}`,
    ),
    'a signature in hex': signature((mac) => `v1,${Buffer.from(mac, 'base64').toString('hex')}`),
    'a signature in upper case': signature((mac) => `v1,${mac.toUpperCase()}`),
    'a signature cut short': signature((mac) => `v1,${mac.slice(0, 24)}`),
    'a signature in quotes': signature((mac) => `"v1,${mac}"`),
    'two signatures without a space between them': signature((mac) => `v1,${mac},v1,${mac}`),
    'a signature after a tab': signature((mac) => `v1,x\tv1,${mac}`),
    'several signatures, none of them right': signature(
      (mac) => `v1,${'A'.repeat(43)}= v1a,${mac} v1,${mac}x v1,`,
    ),
    'a signature of 16 KiB': signature((mac) => `v1,${mac.repeat(372)}`),
    'a thousand wrong signatures': signature(() => Array(1_000).fill('v1,AAAA').join(' ')),
    'a signature of zeros': signature(() => `v1,${'A'.repeat(43)}=`),
    'a signature by another secret': { key: () => Buffer.alloc(32, 7) },
    'a signature by an empty secret': { key: () => Buffer.alloc(0) },
    'the text of the secret as the key': { key: (secret) => secret },
    'the base64 of the secret as the key': { key: (secret) => secret.replace('whsec_', '') },
    'the secret of outgoing hand-offs': { key: () => 'local-identity-sso-secret-do-not-use' },
    'the secret of inbound hand-offs': { key: () => 'local-marketplace-sso-secret-do-not-use' },
    'a body changed after signing': { sentBody: (body) => body.replace('49137', '49138') },
    'a body with one more line feed': { sentBody: (body) => `${body}\n` },
    'a body serialised again': {
      text: (json) => JSON.stringify(JSON.parse(json), null, 1),
      sentBody: (body) => JSON.stringify(JSON.parse(body)),
    },
    'a body with its members in another order': {
      sentBody: (body) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).reverse())),
    },
    'a body that was removed': { sentBody: () => '' },
    // Without a genuine credential, nobody learns whether the body is valid.
    'a body that is neither JSON nor genuine': { sentBody: () => 'hello' },
  });

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const looseBits = (_: string, last: string) => `${alphabet[alphabet.indexOf(last) + 1]}=`;
