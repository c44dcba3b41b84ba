const roles: Record<string, [title: string, about: string]> = {
  admin: ['Administrator', 'You run the products for everybody.'],
  merchant: ['Merchant', 'Your account sells in our products.'],
  customer: ['Customer', 'You use and buy from our products.'],
};

const capabilities: Record<string, [title: string, about: string]> = {
  manage_storefront: ['Manage a storefront', 'Your account has a shop of its own.'],
  sell_media_inventory: ['Sell media inventory', 'Your account can offer advertising space.'],
  sell_products: ['Sell products', 'Your account can offer goods.'],
  sell_services: ['Sell services', 'Your account can offer services.'],
};

type AccessProps = {
  profile: { role: string; account: { capabilities: string[] }; grantedCapabilities: string[] };
};

export function Access({ profile }: AccessProps) {
  const [roleTitle, roleAbout] = roles[profile.role] ?? [profile.role, ''];
  return (
    <section aria-labelledby="access">
      <h2 id="access">What you may do</h2>
      <div className="card">
        <p>
          <strong>{roleTitle}</strong>. {roleAbout}
        </p>
        {profile.grantedCapabilities.length > 0 && (
          <ul className="rows">
            {[...profile.grantedCapabilities].sort().map((name) => {
              const [title, about] = capabilities[name] ?? [name, ''];
              const isInForce = profile.account.capabilities.includes(name);
              return (
                <li key={name}>
                  <div>
                    <strong>{title}</strong>
                    <p className="hint">
                      {isInForce ? about : `${about} This begins once your account is verified.`}
                    </p>
                  </div>
                  <span className={isInForce ? 'tag on' : 'tag'}>
                    {isInForce ? 'On' : 'Waiting for verification'}
                  </span>
                </li>
              );
            })}
          </ul>
        )}
        <p className="hint">These are granted by us; products read them from your profile.</p>
      </div>
    </section>
  );
}
