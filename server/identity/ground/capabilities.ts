// The capabilities of accounts (contract 2.66 to 2.68). Add each new capability to the check constraint of `accounts`.

const rules = {
  manage_storefront: { needsVerifiedAccount: false },
  sell_media_inventory: { needsVerifiedAccount: false },
  sell_products: { needsVerifiedAccount: true },
  sell_services: { needsVerifiedAccount: false },
};

export type Capability = keyof typeof rules;

export const capabilities = (Object.keys(rules) as Capability[]).sort();

export function readCapabilities(names: readonly string[]): Capability[] {
  return capabilities.filter((name) => names.includes(name));
}

/** Some capabilities are in force only while the account is verified, even if they were granted before. */
export function listActiveCapabilities(account: {
  capabilities: readonly string[];
  verifiedAt: Date | null;
}): Capability[] {
  const isInForce = (name: Capability) => account.verifiedAt !== null || !rules[name].needsVerifiedAccount;
  return readCapabilities(account.capabilities).filter(isInForce);
}
