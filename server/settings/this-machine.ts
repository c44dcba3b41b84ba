// Which host names can mean no machine but this one: only there may local mode run, because its secrets are published.

/** `localhost`, a name below it, or a loopback address. IPv6 with or without brackets, no port. */
export function isThisMachine(hostname: string): boolean {
  return /^(?:(?:[a-z0-9-]+\.)*localhost|127(?:\.\d{1,3}){3}|::1|\[::1\])$/i.test(hostname);
}
