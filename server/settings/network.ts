import proxyAddr from 'proxy-addr';
import type { SettingsReader } from './reader.ts';

export function readHost(reader: SettingsReader): string {
  const fallback = reader.production ? '0.0.0.0' : '127.0.0.1';
  const host = reader.text('HOST', { fallback }) ?? fallback;
  reader.requireThisMachine('HOST', host);
  return host;
}

export function readMetricsPort(reader: SettingsReader, port: number): number | undefined {
  if (!reader.text('METRICS_PORT')) return undefined;
  const metricsPort = reader.integer('METRICS_PORT', { min: 1, max: 65_535, fallback: 1 });
  reader.faultIf('METRICS_PORT', metricsPort === port, 'must differ from PORT');
  return metricsPort;
}

export function readTrustedProxies(reader: SettingsReader): (address: string) => boolean {
  const text = reader.text('TRUSTED_PROXIES');
  // Without this setting, each visitor would have the proxy's address, and all would share one set of limits.
  reader.faultIf(
    'TRUSTED_PROXIES',
    !text && reader.production,
    'is missing (none where no proxy is in front)',
  );
  const proxies = !text || text === 'none' ? [] : text.split(',').map((proxy) => proxy.trim());
  try {
    const trusts = proxyAddr.compile(proxies);
    return (address) => trusts(address, 0);
  } catch {
    reader.faultIf(
      'TRUSTED_PROXIES',
      true,
      'must be none, or IP addresses, subnets, or the names loopback, linklocal or uniquelocal, separated by commas',
    );
    return () => false;
  }
}

const headers = {
  IDENTITY_PLACE_HEADER: 'that says where a visitor is, such as cf-ipcity',
  IDENTITY_REQUEST_ID_HEADER: 'that says the id of a request, such as x-request-id',
};

/** Returns the name of the header in lower case. The header is believed only if a trusted proxy sends it. */
export function readProxyHeader(reader: SettingsReader, setting: keyof typeof headers): string | undefined {
  const header = reader.text(setting)?.toLowerCase();
  if (!header) return undefined;
  reader.faultIf(
    setting,
    !/^[a-z0-9-]{1,64}$/.test(header) || /^(cookie|authorization|proxy-authorization)$/.test(header),
    `must be the name of a header ${headers[setting]}`,
  );
  const proxies = reader.text('TRUSTED_PROXIES') ?? 'none';
  reader.faultIf(setting, proxies === 'none', 'needs TRUSTED_PROXIES: it is believed only from those');
  return header;
}
