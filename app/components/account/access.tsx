import type { Capability } from '../../../server/identity/ground/capabilities.ts';
import type { StandardProfile } from '../../../server/sso/payload.ts';
import { Badge } from '../badge.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';

type Role = StandardProfile['role'];

const roles: Record<Role, [title: string, about: string]> = {
  admin: ['Administrator', 'You manage our products for everyone.'],
  merchant: ['Merchant', 'You can sell through our products.'],
  customer: ['Customer', 'You can use our products and buy through them.'],
};

const capabilities: Record<Capability, [title: string, about: string]> = {
  manage_storefront: ['Manage a storefront', 'Your account has its own shop.'],
  sell_media_inventory: ['Sell media inventory', 'Your account can sell advertising space.'],
  sell_products: ['Sell products', 'Your account can sell goods.'],
  sell_services: ['Sell services', 'Your account can sell services.'],
};

export const capabilityNames = Object.keys(capabilities) as Capability[];

/** The title of a capability, or its name if this version knows no title for it. */
export const capabilityTitle = (name: string): string => capabilities[name as Capability]?.[0] ?? name;

type AccessProps = {
  profile: {
    role: Role;
    account: { capabilities: string[] };
    grantedCapabilities: Capability[];
    deletionDueAt: Date | null;
  };
};

export function Access({ profile }: AccessProps) {
  const [roleTitle, roleAbout] = roles[profile.role];
  const isLeaving = profile.deletionDueAt !== null;
  return (
    <Section id="access" title="What you can do">
      <p>
        <strong>{roleTitle}</strong>.{' '}
        {isLeaving ? 'You cannot open our products because your account will be deleted.' : roleAbout}
      </p>
      {profile.grantedCapabilities.length > 0 && (
        <Rows>
          {profile.grantedCapabilities.map((name) => {
            const [title, about] = capabilities[name];
            const isInForce = profile.account.capabilities.includes(name);
            return (
              <Row
                key={name}
                title={title}
                about={isInForce ? about : `${about} You can do this once we have verified your account.`}
                end={
                  <Badge meaning={isInForce ? 'good' : 'waiting'}>
                    {isInForce ? 'Active' : 'Waiting for verification'}
                  </Badge>
                }
              />
            );
          })}
        </Rows>
      )}
      {!isLeaving && <p className="hint">Only we can change this. We share it with our products.</p>}
    </Section>
  );
}
