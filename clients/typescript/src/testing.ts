// The identity service of your tests. It makes what the service would send you, so your CI can log in without the service.
import { hmac, randomBytes, toBase64url, toHex, utf8 } from './bytes.ts';
import { type Configuration, readConfiguration } from './config.ts';
import type { HandOff, Profile } from './hand-off.ts';
import { deriveNudgeKeys, toSigned } from './nudges.ts';
import type { RefusalCode } from './refusals.ts';
import { createMemoryStores, type Stores } from './stores.ts';
import { toSeconds } from './verify.ts';

type Without<Of, Names extends PropertyKey> = Of extends unknown ? Omit<Of, Names> : never;
type Changes = Partial<Omit<HandOff, 'profile'>> & { profile?: Partial<Profile> };

/** Takes the configuration of your client. The configuration needs no stores. */
export function fakeIdentity(configuration: Without<Configuration, keyof Stores>) {
  const settings = readConfiguration({ ...createMemoryStores(), ...configuration } as Configuration);
  const { issuer, baseUrl, client, secrets, callbackUrl, ttlSeconds, now } = settings;

  /** Throws if the service would answer the launch with an error. */
  function readLaunch(launch: string | URL): Record<string, string> {
    const { origin, pathname, searchParams } = new URL(launch);
    if (origin + pathname === `${baseUrl}/sso/launch/${client}`) return Object.fromEntries(searchParams);
    throw new Error(`not a launch of this client: ${origin}${pathname}`);
  }

  function buildPayload(launch: string | URL, { profile, ...changes }: Changes) {
    const iat = toSeconds(now());
    const { state, return_to } = readLaunch(launch);
    return {
      iss: issuer,
      aud: client,
      iat,
      exp: iat + ttlSeconds,
      nonce: toBase64url(randomBytes(16)),
      client,
      sid: toBase64url(randomBytes(16)),
      auth_time: iat,
      amr: ['pwd'],
      profile: {
        id: '0190f5a0-0000-7000-8000-000000000001',
        email: 'zoe@example.test',
        name: 'Zoë O’Neil',
        role: 'customer',
        account: { capabilities: [] },
        profile_updated_at: now().toISOString(),
        ...profile,
      },
      state,
      return_to,
      ...changes,
    };
  }

  function toCallback(query: [string, string][]): string {
    const url = new URL(callbackUrl);
    for (const pair of query) url.searchParams.append(...pair);
    return url.href;
  }

  async function sign(payload: string, keys: readonly string[]): Promise<[string, string][]> {
    const macs = await Promise.all(keys.map(async (key) => toHex(await hmac(utf8(key), utf8(payload)))));
    const names = ['signature', 'signature_next'];
    return [['payload', payload], ...macs.map((mac, at): [string, string] => [names[at] ?? '', mac])];
  }

  const seal = (text: string, keys = secrets) => sign(toBase64url(utf8(text)), keys);

  async function buildRefused(code: RefusalCode, launch: string | URL): Promise<[string, string][]> {
    const right = buildPayload(launch, {});
    const { iat, profile, state = '' } = right;
    const changes: Partial<Record<RefusalCode, object>> = {
      member_wrong: { profile: { ...profile, role: 'owner' } },
      issuer_wrong: { iss: 'https://elsewhere.example' },
      audience_wrong: { aud: 'elsewhere' },
      issued_in_future: { iat: iat + 90, exp: iat + 90 + ttlSeconds },
      expired: { iat: iat - ttlSeconds - 90, exp: iat - 90 },
      lifetime_wrong: { exp: iat + ttlSeconds + 1 },
      state_missing: { state: undefined },
      state_unknown: { state: 'of-another-browser' },
      auth_time_too_old: { auth_time: 0 },
    };
    if (changes[code]) return seal(JSON.stringify({ ...right, ...changes[code] }));
    const genuine = await seal(JSON.stringify(right));
    const [payload = ['payload', ''], signature = ['signature', '']] = genuine;
    switch (code) {
      case 'parameter_missing':
        return [payload];
      case 'parameter_repeated':
        return [...genuine, payload];
      case 'payload_malformed':
        return sign(`${payload[1]}=`, secrets);
      case 'signature_malformed':
        return [payload, ['signature', signature[1].toUpperCase()]];
      case 'signature_wrong':
        return seal(JSON.stringify(right), ['the-secret-of-somebody-else']);
      case 'json_malformed':
        return seal(JSON.stringify(right).slice(1));
      case 'error_unknown':
        return [
          ['error', 'anything'],
          ['state', state],
        ];
      case 'login_required':
      case 'interaction_required':
      case 'access_denied':
        return [
          ['error', code],
          ['state', state],
        ];
      default:
        throw new RangeError(`no hand-off alone is refused with ${code}`);
    }
  }

  return {
    /**
     * Answers a launch, which is the URL that `startLogin` redirected to. Returns your callback's URL with a genuine hand-off.
     */
    handOff: async (launch: string | URL, changes: Changes = {}): Promise<string> =>
      toCallback(await seal(JSON.stringify(buildPayload(launch, changes)))),
    /** Returns your callback's URL with something that the kit refuses with this code. */
    refusal: async (code: RefusalCode, launch: string | URL): Promise<string> =>
      toCallback(await buildRefused(code, launch)),
    /** Returns a nudge, which says that `latest` is the number of the newest event. */
    async webhook(latest = 1, path = '/sso/events'): Promise<Request> {
      const [id, timestamp] = [`${client}_${latest}`, String(toSeconds(now()))];
      const body = JSON.stringify({ client, latest });
      const keys = await deriveNudgeKeys(settings);
      const macs = await Promise.all(keys.map((key) => hmac(key, toSigned(id, timestamp, utf8(body)))));
      const signature = macs.map((mac) => `v1,${btoa(String.fromCharCode(...mac))}`).join(' ');
      const headers = { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signature };
      return new Request(new URL(path, callbackUrl), { method: 'POST', headers, body });
    },
  };
}
