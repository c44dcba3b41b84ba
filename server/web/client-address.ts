// Finds the IP address of the client. It is the address of the connection, or the address that our proxies name in
// X-Forwarded-For.

import ipaddr from 'ipaddr.js';
import type { Log } from '../basics/log.ts';
import { readHeaderEnd } from '../basics/text.ts';
import type { Config } from '../settings/config.ts';

/**
 * Returns undefined if our proxy named no IP address. The proxy's own address is not used instead. Otherwise all clients
 * would share one set of limits, and strangers could use up everybody's tries.
 */
export function buildFindClientAddress({ trustsProxy }: Pick<Config, 'trustsProxy'>, log: Log) {
  let isTold = false;
  return (request: Request, peer: string): string | undefined => {
    if (!trustsProxy(peer)) return peer;
    const forwarded = readHeaderEnd(request.headers, 'x-forwarded-for');
    let address = peer;
    for (let end = forwarded.length, hops = 0; end > 0 && trustsProxy(address); hops++) {
      const start = forwarded.lastIndexOf(',', end - 1) + 1;
      const said = forwarded.slice(start, end).trim();
      const read = hops < maxHops ? readAddress(said) : undefined;
      if (read === undefined) {
        if (!isTold) log.error({ proxy: address, said: said.slice(0, maxLength) }, noAddress);
        isTold = true;
        return undefined;
      }
      address = read;
      end = start - 1;
    }
    return address;
  };
}

const noAddress =
  'TRUSTED_PROXIES: no address in X-Forwarded-For. Limits by address do not hold for such requests. Told once.';

// No real request passes this many proxies. There is a limit because each one takes some work.
const maxHops = 16;
// Room for an IPv6 address with its zone, brackets and port.
const maxLength = 80;

/** Returns the address in one spelling, without the port that some proxies add. */
function readAddress(text: string): string | undefined {
  if (text.length > maxLength) return undefined;
  const [, ipv6, ipv4] = /^(?:\[([^\]]*)\]|([\d.]+))(?::\d{1,5})?$/.exec(text) ?? [];
  const address = ipv6 ?? ipv4 ?? text;
  const isAddress = ipv4 ? ipaddr.IPv4.isValidFourPartDecimal(address) : ipaddr.IPv6.isValid(address);
  return isAddress ? ipaddr.process(address).toString() : undefined;
}
