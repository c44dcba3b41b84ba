// Generated requests: what no person and no program of ours would send, and usual requests with something odd.
import type { Config } from '../../../server/settings/config.ts';
import { sign } from '../../../server/sso/hmac.ts';
import { encodePayload } from '../clients/hand-off.ts';
import { signMessage } from '../crm/crm.ts';
import { fc } from '../run/random.ts';
import { type Bytes, body, handOffs, signups } from './fuzz-bodies.ts';
import {
  demoNames,
  encodeFields,
  fields,
  headerText,
  oddText,
  oddWords,
  percentEncode,
  rightText,
} from './odd-text.ts';

export type FuzzRequest = {
  method: string;
  /** A path and query, as it stands in the request line. */
  target: string;
  headers: [name: string, value: string][];
  body: Bytes | undefined;
  /** The demo user whose new session the request carries. */
  user: string | undefined;
  /** Whether the request carries the cookies of the latest answers, too. */
  comesBack: boolean;
  /** How to sign the request correctly, even if the request is wrong. */
  signedAs: 'hand_off' | 'signup' | undefined;
};

const methods = [
  ...Array<string>(8).fill('GET'),
  ...Array<string>(8).fill('POST'),
  ...['HEAD', 'PUT', 'DELETE', 'PATCH', 'OPTIONS', 'SEARCH'],
];
const procedures = [
  ...[
    'profile.get',
    'profile.update',
    'profile.changePassword',
    'email.canVerify',
    'email.confirmChange',
    'links.list',
    'a.b',
  ],
  ...['links.remove', 'products.list', 'sessions.list', 'sessions.end', 'sessions.endOthers', '__proto__'],
  ...['contracts.list', 'invoices.list', 'profile.get,links.list,a.b'],
];

const printable = (word: string) => word.replace(/[^\x21-\x7e]|[?#]/g, '');

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant('') },
  { weight: 6, arbitrary: fields.map((all) => `?${encodeFields(all)}`) },
  // These queries are not percent-encoded, so some of them cannot be decoded.
  { weight: 1, arbitrary: fc.constantFrom(...oddWords).map((word) => `?next=${printable(word)}&&=%`) },
);

/** Returns a path for the pattern of a route. The pattern is written as in the HTTP shell. */
function pathOf(pattern: string): fc.Arbitrary<string> {
  const odd = oddText.map(percentEncode);
  const parts = pattern.split('/').map((part) => {
    if (part === '*') return fc.oneof(fc.constantFrom(...procedures), odd);
    return part.startsWith(':') ? fc.oneof(rightText.map(percentEncode), odd) : fc.constant(part);
  });
  return fc.tuple(...parts).map((all) => all.join('/'));
}

type Header = [name: string, value: string];

const addresses = ['198.51.100.7', '2001:db8::1', 'unknown', '198.51.100.7, 192.0.2.9', '1.2.3.4:80', ','];
const usualHeaders: [string, string[]][] = [
  ['accept', ['text/html', 'application/json', '*/*', 'text/html;q=0.5, application/problem+json']],
  ['sec-fetch-site', ['same-origin', 'cross-site', 'none']],
  ['x-forwarded-for', addresses],
];
const headerNames = [
  ...['accept', 'accept-encoding', 'accept-language', 'authorization', 'content-encoding', 'cookie'],
  ...['if-none-match', 'origin', 'sec-fetch-site', 'sec-purpose', 'user-agent', 'x-forwarded-for'],
  ...['x-forwarded-host', 'x-forwarded-proto', 'x-request-id', 'traceparent', 'range', 'forwarded'],
  ...['webhook-id', 'webhook-timestamp', 'webhook-signature', 'trpc-accept', 'content-type', 'referer'],
];

function headersFrom(origin: string): fc.Arbitrary<Header[]> {
  const others = ['null', 'https://evil.example', ''];
  const usual = usualHeaders.map(([name, values]) =>
    fc.option(
      fc.constantFrom(...values).map((value): Header => [name, value]),
      { nil: undefined },
    ),
  );
  const odd = fc.tuple(fc.constantFrom(...headerNames), headerText);
  return fc
    .tuple(
      // Most requests have our own origin, because a request with another origin gets no further than the check of the origin.
      fc.constantFrom(...Array<string>(20).fill(origin), ...others),
      fc.tuple(...usual),
      fc.array(odd, { maxLength: 3 }),
    )
    .map(([from, some, more]) => [['origin', from], ...some.filter((pair) => pair !== undefined), ...more]);
}

/**
 * Generates requests to the paths of these patterns, written as in the HTTP shell, and to other paths. Some requests are signed
 * correctly.
 */
export function buildRequests(config: Config, patterns: string[]): fc.Arbitrary<FuzzRequest> {
  const path = fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...patterns).chain(pathOf) },
    { weight: 1, arbitrary: oddText.map((value) => `/${percentEncode(value)}`) },
    { weight: 1, arbitrary: fc.constantFrom(...oddWords).map((word) => `/${printable(word)}`) },
  );
  const sender = {
    user: fc.option(fc.constantFrom(...demoNames), { nil: undefined }),
    comesBack: fc.boolean(),
    headers: headersFrom(config.baseUrl),
  };
  const any = fc
    .record({ ...sender, method: fc.constantFrom(...methods), path, query, body })
    .map(({ path: way, query: tail, body: { type, bytes }, headers, ...rest }) => ({
      ...rest,
      target: way + tail,
      headers: type ? [['content-type', type] as Header, ...headers] : headers,
      body: rest.method === 'GET' || rest.method === 'HEAD' ? undefined : bytes,
      signedAs: undefined,
    }));
  const callback = { method: 'GET', target: '/sso/marketplace/callback', signedAs: 'hand_off' } as const;
  const push = { method: 'POST', target: '/integrations/crm/signups', signedAs: 'signup' } as const;
  return fc.oneof(
    { weight: 8, arbitrary: any },
    {
      weight: 1,
      arbitrary: fc.record({ ...sender, body: handOffs(config) }).map((rest) => ({ ...rest, ...callback })),
    },
    { weight: 1, arbitrary: fc.record({ ...sender, body: signups() }).map((rest) => ({ ...rest, ...push })) },
  );
}

/** The request as it is sent, with its signature. */
export async function signRequest(config: Config, request: FuzzRequest): Promise<FuzzRequest> {
  const { signedAs, body: message } = request;
  if (!signedAs || !message) return request;
  if (signedAs === 'hand_off') {
    const payload = encodePayload(message);
    const signature = await sign(config.marketplaceInbound?.secrets[0] ?? '', payload);
    return {
      ...request,
      body: undefined,
      target: `${request.target}?${encodeFields(Object.entries({ payload, signature }))}`,
    };
  }
  // The CRM's library signs text, so the bytes are decoded.
  const said = new TextDecoder().decode(message);
  const signed = signMessage(config.crmSignupsSecrets?.[0] ?? '', said);
  const headers = request.headers.filter(([name]) => !(name in signed) && name !== 'content-encoding');
  return {
    ...request,
    headers: [...headers, ...Object.entries(signed)],
    body: new TextEncoder().encode(said),
  };
}
