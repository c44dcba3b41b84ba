// The products of the trust group, as the settings name them.

export type Client = {
  name: string;
  callbackUrl: string;
  /** The first signs; the second, while a rotation is on, makes `signature_next`. */
  secrets: readonly string[];
  /** Local mode only: the callback is the demo receiver of this service. */
  isDemo: boolean;
};

const titles = new Map([
  ['marketplace', 'Marketplace'],
  ['network_site', 'Network site'],
  ['crm_app', 'CRM app'],
]);

/** The name for people. */
export function clientTitle(name: string): string {
  return titles.get(name) ?? name.replaceAll('_', ' ').replace(/^./, (first) => first.toUpperCase());
}
