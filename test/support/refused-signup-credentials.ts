// Messages of the CRM whose credential is at fault, as data: each of the three headers, and what they sign.
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
    'id empty': { id: '' },
    'id of 256': { id: 'i'.repeat(256) },
    'id with a dot': { id: 'msg.1' },
    'id with a colon': { id: 'msg:1' },
    'id with a space': { id: 'msg 1' },
    'id with a slash': { id: 'msg/1' },
    'id with an accent': { id: 'msg_é' },
    'id changed after signing': header('webhook-id', 'msg_another'),
    'id twice': {
      headers: (headers) => headers.append('webhook-id', headers.get('webhook-id') ?? ''),
    },
    // What is signed is one text, so the dots in it must be where they were.
    'a piece of the timestamp moved into the id': {
      id: 'msg',
      timestamp: `${now}.x`,
      headers: (headers) => {
        headers.set('webhook-id', `msg.${now}`);
        headers.set('webhook-timestamp', 'x');
      },
    },
    'no timestamp': without('webhook-timestamp'),
    'timestamp empty': { timestamp: '' },
    'timestamp 301 s old': { timestamp: String(now - 301) },
    'timestamp 301 s ahead': { timestamp: String(now + 301) },
    'timestamp of a year ago': { timestamp: String(now - 365 * 24 * 3_600) },
    'timestamp of nine digits': { timestamp: String(now).slice(1) },
    'timestamp of eleven digits': { timestamp: `0${now}` },
    'timestamp in milliseconds': { timestamp: String(now * 1_000) },
    'timestamp with a fraction': { timestamp: `${now}.0` },
    'timestamp with a fraction of ten characters': { timestamp: `${Math.floor(now / 100)}.5` },
    'timestamp negative': { timestamp: `-${now}` },
    'timestamp with a plus': { timestamp: `+${now}` },
    'timestamp in hex': { timestamp: `0x${now.toString(16)}` },
    'timestamp with an exponent': { timestamp: `${now / 1e9}e9` },
    'timestamp as RFC 3339': { timestamp: at(now) },
    'timestamp in superscript digits': { timestamp: String(now).replace(/^1/, '¹') },
    'timestamp changed after signing': header('webhook-timestamp', String(now + 1)),
    'timestamp twice': {
      headers: (headers) => headers.append('webhook-timestamp', String(now)),
    },
    'no signature': without('webhook-signature'),
    'signature empty': signature(() => ''),
    'signature without a version': signature((mac) => mac),
    'signature without its base64': signature(() => 'v1,'),
    'signature of version v1a': signature((mac) => `v1a,${mac}`),
    'signature of version v2': signature((mac) => `v2,${mac}`),
    'signature of version V1': signature((mac) => `V1,${mac}`),
    'signature after =': signature((mac) => `v1=${mac}`),
    'signature unpadded': signature((mac) => `v1,${mac.replace(/=+$/, '')}`),
    'signature padded too much': signature((mac) => `v1,${mac}=`),
    // The last character before the padding carries two bits that no byte has.
    'signature with loose bits': signature((mac) => `v1,${mac.replace(/(.)=$/, looseBits)}`),
    'signature in the URL-safe alphabet': signature(
      (mac) => `v1,${mac.replaceAll('+', '-').replaceAll('/', '_')}`,
    ),
    'signature in hex': signature((mac) => `v1,${Buffer.from(mac, 'base64').toString('hex')}`),
    'signature in upper case': signature((mac) => `v1,${mac.toUpperCase()}`),
    'signature cut short': signature((mac) => `v1,${mac.slice(0, 24)}`),
    'signature in quotes': signature((mac) => `"v1,${mac}"`),
    'signature twice in one, without a space': signature((mac) => `v1,${mac},v1,${mac}`),
    'signature after a tab': signature((mac) => `v1,x\tv1,${mac}`),
    'signatures, none of them right': signature((mac) => `v1,${'A'.repeat(43)}= v1a,${mac} v1,${mac}x v1,`),
    'signature of 16 KiB': signature((mac) => `v1,${mac.repeat(372)}`),
    'a thousand wrong signatures': signature(() => Array(1_000).fill('v1,AAAA').join(' ')),
    'signature of zeros': signature(() => `v1,${'A'.repeat(43)}=`),
    'another secret': { key: () => Buffer.alloc(32, 7) },
    'no secret': { key: () => Buffer.alloc(0) },
    'the text of the secret as the key': { key: (secret) => secret },
    'the base64 of the secret as the key': { key: (secret) => secret.replace('whsec_', '') },
    'the secret of outgoing hand-offs': { key: () => 'local-identity-sso-secret-do-not-use' },
    'the secret of inbound hand-offs': { key: () => 'local-marketplace-sso-secret-do-not-use' },
    'body changed after signing': { sentBody: (body) => body.replace('49137', '49138') },
    'body with a line feed more': { sentBody: (body) => `${body}\n` },
    'body serialised again': {
      text: (json) => JSON.stringify(JSON.parse(json), null, 1),
      sentBody: (body) => JSON.stringify(JSON.parse(body)),
    },
    'body with its members in another order': {
      sentBody: (body) => JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(body)).reverse())),
    },
    'body taken away': { sentBody: () => '' },
    // Who is not genuine learns nothing of what the body is worth.
    'no JSON, and not genuine': { sentBody: () => 'hello' },
  });

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const looseBits = (_: string, last: string) => `${alphabet[alphabet.indexOf(last) + 1]}=`;
