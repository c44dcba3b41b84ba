// Local mode runs only on this machine, because its secrets are published.

/** This machine is `localhost`, a name below it, or a loopback address. IPv6 may have brackets. `hostname` has no port. */
export function isThisMachine(hostname: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(hostname);
}
