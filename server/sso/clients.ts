// The clients: the products of the trust group, as the settings name them.

export type Client = {
  name: string;
  callbackUrl: string;
  /** Where the client's own login starts. */
  loginUrl: string | undefined;
  /** The first makes `signature`. The second, during a rotation, makes `signature_next`. */
  secrets: readonly string[];
  /** Local mode only: the callback is the demo client of this service. */
  isDemo: boolean;
};

const titles = new Map([
  ['marketplace', 'Marketplace'],
  ['network_site', 'Network site'],
  ['crm_app', 'CRM app'],
]);

/** What people call the client. */
export function clientTitle(name: string): string {
  return titles.get(name) ?? name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
}
