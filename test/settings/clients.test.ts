import { describe, expect, it } from 'vitest';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { roles } from '../../server/sso/clients.ts';
import { faultsOf, messageOf, production } from '../support/app/settings.ts';
import { quote } from '../support/run/names.ts';

const builtIn = [
  ['marketplace', 'SSO_MARKETPLACE', 'Marketplace', ['everybody']],
  ['network_site', 'SSO_WEBSITE', 'Network site', ['everybody']],
  ['crm_app', 'SSO_CRM', 'CRM app', ['visited', 'contract']],
] as const;

const without = (...prefixes: string[]) =>
  Object.fromEntries(
    prefixes.flatMap((prefix) => [
      [`${prefix}_CALLBACK_URL`, undefined],
      [`${prefix}_SECRET`, undefined],
    ]),
  );

const shop = {
  SSO_SHOP_CALLBACK_URL: 'https://shop.example.test/cb',
  SSO_SHOP_SECRET: 'bT6yHn5mJu7kIl8oPq9wSx2eDc3rFv4t',
};

describe.each(builtIn)('the client %s', (name, prefix, title, listedTo) => {
  const callbackSetting = `${prefix}_CALLBACK_URL`;
  const secretSetting = `${prefix}_SECRET`;

  it('has its own callback and secret (contract 8.4 and 8.5)', () => {
    const callbackUrl = production[callbackSetting];
    const secrets = production[secretSetting]?.split(',');
    expect(readConfig(production).clients.get(name)).toEqual({
      ...({ kind: 'hand-off', source: 'settings', roles, needsFactor: false } as const),
      ...{
        name,
        title,
        callbackUrl,
        secrets,
        loginUrl: undefined,
        logoPath: undefined,
        logoDarkPath: undefined,
        eventsUrl: undefined,
        listedTo,
      },
      ...{ needsFactor: false, roles: ['admin', 'merchant', 'customer'] },
      ttlSeconds: 300,
      isDemo: false,
    });
  });

  it('has the title that the settings give it', () => {
    const settings = { ...production, [`${prefix}_TITLE`]: 'Zoë’s Shop' };
    expect(readConfig(settings).clients.get(name)?.title).toBe('Zoë’s Shop');
  });

  it('has both a callback and a secret in production, or neither (contract 8.5 and 8.124)', () => {
    expect(faultsOf({ ...production, [secretSetting]: undefined })).toEqual([secretSetting]);
    expect(faultsOf({ ...production, [callbackSetting]: undefined })).toEqual([callbackSetting]);
    const others = readConfig({ ...production, ...without(prefix) }).clients;
    expect([...others.keys()]).toEqual(builtIn.map(([each]) => each).filter((each) => each !== name));
  });

  it.each([
    ['plain http', 'http://client.example.test/cb'],
    ['plain http on this machine', 'http://localhost/cb'],
    ['no scheme', 'client.example.test/cb'],
    ['a path alone', '/cb'],
    ['another scheme', 'javascript:alert(1)'],
    ['a fragment', 'https://client.example.test/cb#x'],
    ['a user', 'https://zoe@client.example.test/cb'],
    ['a password', 'https://zoe:pass@client.example.test/cb'],
    ...['payload', 'signature', 'signature_next', 'state', 'error'].map((parameter) => [
      `${parameter} in its query`,
      `https://client.example.test/cb?a=b&${parameter}=`,
    ]),
    ['payload in its query, encoded', 'https://client.example.test/cb?%70ayload=1'],
  ])('may not have a callback with %s in production', (_, url) => {
    expect(faultsOf({ ...production, [callbackSetting]: url })).toEqual([callbackSetting]);
  });

  it('has a login URL where one is configured', () => {
    const loginUrl = 'https://client.example.test/login';
    const { clients } = readConfig({ ...production, [`${prefix}_LOGIN_URL`]: loginUrl });
    expect(clients.get(name)).toMatchObject({ loginUrl });
    expect(readConfig(production).clients.get(name)?.loginUrl).toBeUndefined();
  });

  it('is nudged where an address for that is configured', () => {
    const eventsUrl = 'https://client.example.test/events';
    const { clients } = readConfig({ ...production, [`${prefix}_EVENTS_URL`]: eventsUrl });
    expect(clients.get(name)).toMatchObject({ eventsUrl });
    expect(readConfig(production).clients.get(name)?.eventsUrl).toBeUndefined();
  });

  it('is listed to the people whom the settings name', () => {
    const listing = (words: string) => ({ ...production, [`${prefix}_LISTED`]: words });
    const { clients } = readConfig(listing(' visited ,administrators,merchants'));
    expect(clients.get(name)?.listedTo).toEqual(['visited', 'administrators', 'merchants']);
    expect(readConfig(listing('everybody')).clients.get(name)?.listedTo).toEqual(['everybody']);
    expect(readConfig(listing(' ')).clients.get(name)?.listedTo).toEqual(listedTo);
  });

  it.each(['nobody', 'Everybody', 'visited;contract', 'merchants,', ',', 'everybody,customers'])(
    'does not start if %j says to whom it is listed',
    (words) => {
      const wrong = { ...production, [`${prefix}_LISTED`]: words, [callbackSetting]: '/cb' };
      expect(faultsOf(wrong).sort()).toEqual([callbackSetting, `${prefix}_LISTED`].sort());
      expect(messageOf(wrong)).toContain('must be one or more of everybody, merchants');
      expect(messageOf(wrong)).not.toMatch(/nobody|Everybody|;|customers/);
    },
  );

  it('lets in the roles and asks for the factor that the settings name (contract 13.50 and 13.54)', () => {
    const read = (settings: Record<string, string>) =>
      readConfig({ ...production, ...settings }).clients.get(name);
    expect(read({ [`${prefix}_ROLES`]: ' merchant ,admin' })?.roles).toEqual(['merchant', 'admin']);
    expect(read({ [`${prefix}_ROLES`]: ' ' })?.roles).toEqual(['admin', 'merchant', 'customer']);
    expect(read({ [`${prefix}_FACTOR`]: 'required' })?.needsFactor).toBe(true);
    expect(read({ [`${prefix}_FACTOR`]: 'optional' })?.needsFactor).toBe(false);
  });

  it.each([
    ['ROLES', 'manager', 'must be one or more of admin, merchant, customer'],
    ['ROLES', 'merchant;admin', 'must be one or more of'],
    ['ROLES', 'merchant,', 'must be one or more of'],
    ['ROLES', 'none', 'must be one or more of'],
    ['FACTOR', 'yes', 'must be required or optional'],
    ['FACTOR', 'Required', 'must be required or optional'],
  ])('does not start with %s=%s', (end, value, words) => {
    const wrong = { ...production, [`${prefix}_${end}`]: value };
    expect(faultsOf(wrong)).toEqual([`${prefix}_${end}`]);
    expect(messageOf(wrong)).toContain(words);
  });

  it('may have a query and a port', () => {
    const url = 'https://client.example.test:8443/cb?lang=de&payloads=1';
    expect(readConfig({ ...production, [callbackSetting]: url }).clients.get(name)?.callbackUrl).toBe(url);
  });
});

describe('having no client at all', () => {
  const none = { ...production, ...without('SSO_MARKETPLACE', 'SSO_WEBSITE', 'SSO_CRM') };

  it('is right in production, because clients may be in the database (contract 13.6)', () => {
    expect([...readConfig(none).clients.keys()]).toEqual([]);
    expect([...readConfig({ ...none, SSO_CLIENTS: 'shop' }).clients.keys()]).toEqual([]);
  });

  it('does not hide the wrong callback of the only client', () => {
    const wrong = { SSO_CRM_CALLBACK_URL: 'crm', SSO_CRM_SECRET: production.SSO_CRM_SECRET };
    expect(faultsOf({ ...none, ...wrong })).toEqual(['SSO_CRM_CALLBACK_URL']);
  });

  it('is not the case if a later product is the only client', () => {
    expect([...readConfig({ ...none, SSO_CLIENTS: 'shop', ...shop }).clients.keys()]).toEqual(['shop']);
  });
});

describe('SSO_CLIENTS (contract 8.6)', () => {
  it('adds later products by name', () => {
    const { clients } = readConfig({ ...production, SSO_CLIENTS: ' shop , billing_2', ...shop });
    expect(clients.get('shop')).toEqual({
      ...({ kind: 'hand-off', source: 'settings', roles, needsFactor: false } as const),
      name: 'shop',
      title: 'Shop',
      callbackUrl: shop.SSO_SHOP_CALLBACK_URL,
      secrets: [shop.SSO_SHOP_SECRET],
      listedTo: ['everybody'],
      ...{ needsFactor: false, roles: ['admin', 'merchant', 'customer'] },
      ttlSeconds: 300,
      isDemo: false,
    });
    expect(clients.has('billing_2')).toBe(false);
  });

  it('decides: the settings of a product it does not name make no client', () => {
    expect(readConfig({ ...production, ...shop }).clients.has('shop')).toBe(false);
  });

  // Contract 8.121.
  it.each([
    ['network_site', 'SSO_NETWORK_SITE', 'SSO_WEBSITE'],
    ['crm_app', 'SSO_CRM_APP', 'SSO_CRM'],
  ])('does not start with settings of %s under %s, and says how they are called', (_, mistaken, right) => {
    const wrong = {
      [`${mistaken}_CALLBACK_URL`]: 'https://www.example.test/cb',
      [`${mistaken}_SECRET`]: production.SSO_WEBSITE_SECRET,
      [`${mistaken}_LOGIN_URL`]: ' ',
      [`${mistaken}_TITLE`]: 'Our site',
      [`${mistaken}_NOTHING`]: 'x',
      // This setting belongs to another client, which has been removed.
      [`${mistaken}_TWO_SECRET`]: 'x',
    };
    const named = ['CALLBACK_URL', 'SECRET', 'TITLE'].map((each) => `${mistaken}_${each}`);
    expect(faultsOf(wrong)).toEqual(named);
    expect(messageOf(wrong)).toContain(`set ${right}_SECRET instead`);
    // If the right names are set, too, mistaken names do no harm.
    expect(faultsOf({ ...production, ...wrong })).toEqual([`${mistaken}_TITLE`]);
    expect(faultsOf({ ...wrong, PORT: 'x' })).toEqual(['PORT', ...named]);
  });

  it('lets the service start with settings of no client, and names them', () => {
    const left = { SSO_SHOPP_SECRET: 'x', SSO_OLD_SHOP_LOGO_FILE: 'y', SSO_GONE_TITLE: ' ', SSO_HOME: '/x' };
    const named = { ...production, SSO_CLIENTS: 'shop', ...shop };
    expect(readConfig({ ...named, ...left }).unreadSettings).toEqual([
      'SSO_SHOPP_SECRET',
      'SSO_OLD_SHOP_LOGO_FILE',
    ]);
    const read = ['CALLBACK_URL', 'SECRET', 'SECRET_FILE', 'LOGIN_URL', 'EVENTS_URL', 'TITLE'];
    const every = [...read, 'LOGO_FILE', 'LOGO_DARK_FILE', 'LISTED', 'FACTOR', 'ROLES'];
    const names = every.map((each) => `SSO_GONE_${each}`);
    const unread = readConfig({ ...named, ...Object.fromEntries(names.map((name) => [name, 'x'])) });
    expect(unread.unreadSettings).toEqual(names);
    // The list of mistaken names covers every setting that clients have.
    expect(listSettings().filter((name) => name.startsWith('SSO_<NAME>_'))).toHaveLength(every.length);
    expect(readConfig(named).unreadSettings).toEqual([]);
  });

  it('names the built-in clients and their settings where it is refused', () => {
    expect(messageOf({ SSO_CLIENTS: 'network_site' })).toContain('network_site (SSO_WEBSITE_…)');
  });

  it('holds later products to the same rules as the first three', () => {
    const named = { ...production, SSO_CLIENTS: 'shop', ...shop };
    expect(faultsOf({ ...named, SSO_SHOP_SECRET: undefined })).toEqual(['SSO_SHOP_SECRET']);
    expect(faultsOf({ ...named, SSO_SHOP_CALLBACK_URL: undefined })).toEqual(['SSO_SHOP_CALLBACK_URL']);
    expect(faultsOf({ ...named, SSO_SHOP_SECRET: 'short' })).toEqual(['SSO_SHOP_SECRET']);
    expect(faultsOf({ ...named, SSO_SHOP_CALLBACK_URL: 'http://shop.example.test' })).toEqual([
      'SSO_SHOP_CALLBACK_URL',
    ]);
    const reused = { ...named, SSO_SHOP_SECRET: production.SSO_CRM_SECRET };
    expect(faultsOf(reused).sort()).toEqual(['SSO_CRM_SECRET', 'SSO_SHOP_SECRET']);
  });

  it.each(
    [
      'Shop',
      '2shop',
      '_shop',
      'shop-2',
      'sh op',
      'shöp',
      'shop/../admin',
      'x'.repeat(64),
      'shop,shop',
      'shop,',
      ',shop',
      'marketplace',
      'network_site',
      'crm_app',
      // These names would share their settings with the first three.
      'website',
      'crm',
    ].map((names) => [quote(names), names] as const),
  )('is refused as %s, which is no valid new name', (_, names) => {
    expect(faultsOf({ ...production, SSO_CLIENTS: names })).toEqual(['SSO_CLIENTS']);
    expect(faultsOf({ SSO_CLIENTS: names })).toEqual(['SSO_CLIENTS']);
  });

  it('may use a name that means something in JavaScript', () => {
    const client = readConfig({ SSO_CLIENTS: 'constructor' }).clients.get('constructor');
    expect(client).toMatchObject({ isDemo: true, title: 'Constructor' });
  });
});

describe('local mode', () => {
  it('has a demo client for every client without a callback, later ones too', () => {
    const { clients } = readConfig({
      PORT: '4000',
      SSO_CLIENTS: 'shop',
      SSO_CRM_CALLBACK_URL: 'http://localhost:9000/cb',
    });
    expect([...clients.values()].map(({ callbackUrl, isDemo }) => [callbackUrl, isDemo])).toEqual([
      ['http://localhost:4000/demo/marketplace/callback', true],
      ['http://localhost:4000/demo/network_site/callback', true],
      ['http://localhost:9000/cb', false],
      ['http://localhost:4000/demo/shop/callback', true],
    ]);
  });

  it('nudges demo clients at an address of their own, and others only where one is configured', () => {
    const { clients } = readConfig({
      SSO_MARKETPLACE_EVENTS_URL: 'http://localhost:9000/events',
      SSO_CRM_CALLBACK_URL: 'http://localhost:9000/cb',
    });
    expect([...clients.values()].map(({ eventsUrl }) => eventsUrl)).toEqual([
      'http://localhost:9000/events',
      'http://localhost:3000/demo/network_site/events',
      undefined,
    ]);
  });

  it('signs with IDENTITY_SSO_SECRET for clients without a secret of their own (contract 8.2)', () => {
    const { clients } = readConfig({
      IDENTITY_SSO_SECRET: 'shared,shared-next',
      SSO_CRM_SECRET: 'own',
      SSO_WEBSITE_CALLBACK_URL: 'http://localhost:9000/cb',
    });
    expect([...clients.values()].map(({ secrets }) => secrets)).toEqual([
      ['shared', 'shared-next'],
      ['shared', 'shared-next'],
      ['own'],
    ]);
  });
});

it('IDENTITY_SSO_SECRET never signs in production (contract 8.2)', () => {
  const shared = 'gY7uJm6hNb5tVf4rCd3eXs2wZa1qPl0o';
  const settings = { ...production, IDENTITY_SSO_SECRET: shared };
  for (const { secrets } of readConfig(settings).clients.values()) expect(secrets).not.toContain(shared);
  expect(faultsOf({ ...settings, SSO_CRM_SECRET: undefined })).toEqual(['SSO_CRM_SECRET']);
  // No value of the shared secret is a fault, so a leftover from local mode does not stop the start.
  expect(faultsOf({ ...settings, IDENTITY_SSO_SECRET: 'changeme' })).toEqual([]);
});
