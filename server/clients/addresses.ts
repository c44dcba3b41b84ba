// What an address of a client in the database may be: a URL, such as its callback (contract 13.13 to 13.16). An administrator
// typed it, so the rules are stricter than for addresses in the settings.
import ipaddr from 'ipaddr.js';
import type { FaultName } from '../basics/fault-words.ts';
import { parseUrl } from '../basics/url.ts';
import { reservedParameters } from '../settings/clients.ts';

const maxLength = 2_000;
const thisMachine = ['localhost', '127.0.0.1', '[::1]', 'host.docker.internal'];

/** Parameters that OpenID Connect adds to a redirect URI (contract 14.5). */
const parametersOfCode = ['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'response'];

const faultOfUse = {
  callback: [reservedParameters, 'address_parameters'],
  redirect: [parametersOfCode, 'redirect_parameters'],
} as const;

/** Uses of an address that have rules of their own. */
export type AddressUse = keyof typeof faultOfUse | 'post-logout';

/** Returns undefined if the client may have the address. */
export function findAddressFault(
  text: string,
  { production, use }: { production: boolean; use?: AddressUse | undefined },
): FaultName | undefined {
  if (text.length > maxLength) return 'address_long';
  const url = parseUrl(text);
  if (!url || !(url.protocol === 'https:' || (!production && url.protocol === 'http:')))
    return production ? 'address_https' : 'address_http';
  if (text.includes('#') || url.username || url.password || text.includes('*')) return 'address_parts';
  if (!production && !thisMachine.includes(url.hostname)) return 'address_elsewhere';
  if (production && isAddress(url.hostname)) return 'address_number';
  if (production && thisMachine.includes(url.hostname)) return 'address_here';
  // After a log-out, the browser goes to an address of the product. Some products leave out the last slash of that address
  // (contract 14.99).
  if (url.href !== text && !(use === 'post-logout' && url.origin === text)) return 'address_spelling';
  if (use === undefined || use === 'post-logout') return undefined;
  const [names, fault] = faultOfUse[use];
  return names.some((name) => url.searchParams.has(name)) ? fault : undefined;
}

const isAddress = (hostname: string) => ipaddr.isValid(hostname.replace(/^\[|\]$/g, ''));

/**
 * At these IP addresses, clouds give secrets to their machines. `mayConnect` refuses them even if it allows the networks around
 * them.
 */
const metadata = [
  ...['100.100.100.200', '168.63.129.16', 'fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254'],
  ...['fd00:c1::a9fe:a9fe', 'fd00:42::42'],
].map((each) => ipaddr.parse(each).toNormalizedString());

/** All public IPv6 addresses are in this network. */
const internet: [ipaddr.IPv6, number] = [ipaddr.IPv6.parse('2000::'), 3];

/** Returns whether the service may connect to the IP address. In local mode it may connect to this machine. */
export function mayConnect(
  address: string,
  { production, allowsPrivateNetworks }: { production: boolean; allowsPrivateNetworks: boolean },
): boolean {
  if (!ipaddr.isValid(address)) return false;
  const found = ipaddr.process(address);
  if (metadata.includes(found.toNormalizedString())) return false;
  const range: string = found.range();
  if (range === 'unicast') return found instanceof ipaddr.IPv4 || found.match(internet);
  if (!production && range === 'loopback') return true;
  return (
    (allowsPrivateNetworks || !production) && ['private', 'uniqueLocal', 'carrierGradeNat'].includes(range)
  );
}
