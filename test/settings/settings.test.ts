import { describe, expect, it } from 'vitest';
import { usualAccent } from '../../server/settings/accent.ts';
import { listSettings, readConfig } from '../../server/settings/config.ts';
import { roles } from '../../server/sso/clients.ts';
import { canary, faultsOf, messageOf, production } from '../support/app/settings.ts';

describe('local mode', () => {
  it('starts with no settings at all, because every one has a default', () => {
    const { clients, trustsProxy, brandFiles: _, billingFonts, ...config } = readConfig({});
    expect(config).toEqual({
      production: false,
      vatCheck: 'off',
      payloadTtlSeconds: 300,
      allowsPrivateNetworks: false,
      encryptionKeys: [new TextEncoder().encode('local-encryption-key-do-not-use!')],
      requiresAdminFactor: false,
      name: 'Identity',
      brand: {
        accent: usualAccent,
        logoPath: undefined,
        logoDarkPath: undefined,
        icons: [{ href: expect.stringMatching(/^\/brand\/\w+\.svg$/), type: 'image/svg+xml' }],
        stylesPath: undefined,
      },
      issuer: 'http://localhost:3000',
      baseUrl: 'http://localhost:3000',
      unreadSettings: [],
      formerSettings: [],
      marketplaceInbound: {
        issuer: expect.stringMatching(/^https:/),
        secrets: [expect.stringMatching(/.{32}/)],
        ttlSeconds: 300,
      },
      crmSignupsSecrets: [expect.stringMatching(/^whsec_/)],
      paymentsSecrets: [expect.stringMatching(/^whsec_/)],
      databaseUrl: undefined,
      databasePoolSize: 10,
      databasePreparedStatements: true,
      mail: undefined,
      placeHeader: undefined,
      requestIdHeader: undefined,
      signUp: 'open',
      port: 3_000,
      host: '127.0.0.1',
      logLevel: 'info',
      shutdownDelaySeconds: 0,
    });
    expect([...clients.keys()]).toEqual(['marketplace', 'network_site', 'crm_app']);
    expect(trustsProxy('127.0.0.1')).toBe(false);
    expect(billingFonts.map(({ length }) => length > 100_000)).toEqual([true]);
  });

  it.each([undefined, '', 'development', 'test', 'Production', 'production '])(
    'is what NODE_ENV %j means',
    (mode) => {
      expect(readConfig({ NODE_ENV: mode }).production).toBe(false);
    },
  );

  it('has an issuer on the port it listens on', () => {
    expect(readConfig({ PORT: '4000' })).toMatchObject({ port: 4_000, issuer: 'http://localhost:4000' });
  });

  const isElsewhere = /^(?:NODE_ENV|IDENTITY_ISSUER|SSO_\w+_CALLBACK_URL)$/;
  it.each(Object.keys(production).filter((setting) => !isElsewhere.test(setting)))(
    'starts with only %s set, or with it empty',
    (setting) => {
      const more = setting === 'SMTP_URL' ? { MAIL_FROM: production.MAIL_FROM } : {};
      expect(faultsOf({ [setting]: production[setting], ...more })).toEqual([]);
      expect(faultsOf({ [setting]: '' })).toEqual([]);
      expect(faultsOf({ [setting]: ' ' })).toEqual([]);
    },
  );

  it('accepts plain http, weak secrets, and one secret for everything', () => {
    const settings = {
      IDENTITY_ISSUER: 'http://id.localhost:8080',
      SSO_CRM_CALLBACK_URL: 'http://localhost:4000/cb',
      SSO_CRM_SECRET: 'changeme',
      SSO_WEBSITE_SECRET: 'changeme',
      MARKETPLACE_SSO_SECRET: 'changeme',
    };
    expect(readConfig(settings)).toMatchObject({ issuer: 'http://id.localhost:8080' });
  });

  it.each(['prod', undefined])(
    'refuses addresses that are not on this machine, when NODE_ENV is %j',
    (mode) => {
      const settings = { ...production, NODE_ENV: mode, HOST: '0.0.0.0' };
      expect(faultsOf(settings)).toEqual([
        'IDENTITY_ISSUER',
        'SSO_MARKETPLACE_CALLBACK_URL',
        'SSO_WEBSITE_CALLBACK_URL',
        'SSO_CRM_CALLBACK_URL',
        'HOST',
      ]);
      expect(messageOf(settings)).toContain('because NODE_ENV is not production');
    },
  );

  const here = ['localhost', 'id.localhost', 'a.b-c.localhost', '127.0.0.1', '127.8.9.10', '[::1]'];
  const elsewhere = [
    ...['id.example.test', 'localhost.example.test', 'notlocalhost', '127.0.0.1.example.test', 'local'],
    ...['0.0.0.0', '10.0.0.1', '192.168.0.1', '128.0.0.1', '[::]', '[fe80::1]', '[::ffff:10.0.0.1]'],
  ];

  it.each(['IDENTITY_ISSUER', 'SSO_CRM_CALLBACK_URL', 'SSO_CRM_LOGIN_URL', 'SSO_CRM_EVENTS_URL'])(
    '%s may be on this machine and nowhere else (contract 8.37)',
    (setting) => {
      for (const scheme of ['http', 'https']) {
        const faultsAt = (host: string) => faultsOf({ [setting]: `${scheme}://${host}:4000` });
        for (const host of here) expect(faultsAt(host), host).toEqual([]);
        for (const host of elsewhere) expect(faultsAt(host), host).toEqual([setting]);
      }
    },
  );

  it('HOST may be on this machine and nowhere else (contract 8.37)', () => {
    for (const host of [...here, '::1']) expect(faultsOf({ HOST: host }), host).toEqual([]);
    for (const host of [...elsewhere, '::', '*', 'localhost:3000'])
      expect(faultsOf({ HOST: host }), host).toEqual(['HOST']);
  });

  it('still names every invalid setting in one message (contract 8.32)', () => {
    const settings = { PORT: canary, IDENTITY_SSO_TTL: canary, CRM_SIGNUPS_SECRET: canary, SMTP_URL: canary };
    expect(faultsOf(settings).sort()).toEqual(Object.keys(settings).sort());
  });
});

describe('production (contract 8.32 and 8.33)', () => {
  it('starts with every required setting, and reads them unchanged', () => {
    const { clients, ...config } = readConfig(production);
    expect(config).toMatchObject({
      production: true,
      issuer: 'https://id.example.test',
      baseUrl: 'https://id.example.test',
      marketplaceInbound: {
        issuer: 'https://old-market.example.test',
        secrets: [production.MARKETPLACE_SSO_SECRET],
        ttlSeconds: 300,
      },
      crmSignupsSecrets: [production.CRM_SIGNUPS_SECRET],
      paymentsSecrets: [production.PAYMENTS_SECRET],
      databaseUrl: production.DATABASE_URL,
      mail: { smtpUrl: production.SMTP_URL, from: 'Identity <identity@example.test>' },
      port: 3_000,
      host: '0.0.0.0',
      shutdownDelaySeconds: 5,
    });
    expect(clients.get('network_site')).toEqual({
      ...({ kind: 'hand-off', source: 'settings', roles, needsFactor: false } as const),
      name: 'network_site',
      title: 'Network site',
      callbackUrl: 'https://www.example.test/sso',
      secrets: production.SSO_WEBSITE_SECRET?.split(','),
      listedTo: ['everybody'],
      ...{ needsFactor: false, roles: ['admin', 'merchant', 'customer'] },
      ttlSeconds: 300,
      isDemo: false,
    });
  });

  it('has inbound hand-offs, signups and payments off unless they are configured (contract 8.12 and 8.120)', () => {
    const off = {
      MARKETPLACE_SSO_ISSUER: undefined,
      MARKETPLACE_SSO_SECRET: '',
      CRM_SIGNUPS_SECRET: ' ',
      PAYMENTS_SECRET: '',
    };
    const config = readConfig({ ...production, ...off });
    expect(config.marketplaceInbound).toBeUndefined();
    expect(config.crmSignupsSecrets).toBeUndefined();
    expect(config.paymentsSecrets).toBeUndefined();
  });

  it.each([
    'IDENTITY_ISSUER',
    'DATABASE_URL',
    'IDENTITY_ENCRYPTION_KEY',
    'SMTP_URL',
    'MAIL_FROM',
    'TRUSTED_PROXIES',
    'SSO_MARKETPLACE_SECRET',
    'SSO_WEBSITE_CALLBACK_URL',
    'MARKETPLACE_SSO_ISSUER',
    'MARKETPLACE_SSO_SECRET',
  ])('does not start without %s, and says so', (setting) => {
    for (const nothing of [undefined, '', '  ']) {
      expect(faultsOf({ ...production, [setting]: nothing })).toEqual([setting]);
    }
  });

  it('names every missing setting at once (contract 8.33)', () => {
    expect(faultsOf({ NODE_ENV: 'production' }).sort()).toEqual([
      'DATABASE_URL',
      'IDENTITY_ENCRYPTION_KEY',
      'IDENTITY_ISSUER',
      'MAIL_FROM',
      'SMTP_URL',
      'TRUSTED_PROXIES',
    ]);
  });

  it('names every invalid setting at once, each once, and prints no value', () => {
    const wrong = {
      IDENTITY_ISSUER: `http://${canary}.test/path`,
      IDENTITY_SSO_TTL: canary,
      IDENTITY_ENCRYPTION_KEY: canary,
      IDENTITY_ADMIN_SECOND_FACTOR: canary,
      SSO_MARKETPLACE_CALLBACK_URL: `http://${canary}.test`,
      SSO_MARKETPLACE_SECRET: canary,
      SSO_WEBSITE_CALLBACK_URL: `https://${canary}:${canary}@${canary}.test/?payload=${canary}#${canary}`,
      SSO_WEBSITE_SECRET: `${canary},${canary},${canary}`,
      SSO_CRM_CALLBACK_URL: canary,
      SSO_CRM_LOGIN_URL: `http://${canary}.test`,
      SSO_CRM_EVENTS_URL: `https://${canary}.test/#${canary}`,
      SSO_CRM_SECRET: `changeme-${canary.repeat(3)}`,
      SSO_CLIENTS: `${canary}!,${canary}?`,
      MARKETPLACE_SSO_SECRET: `${canary.repeat(3)} `,
      MARKETPLACE_SSO_TTL: `300${canary}`,
      MARKETPLACE_SSO_ISSUER: undefined,
      CRM_SIGNUPS_SECRET: `whsec_${canary}`,
      PAYMENTS_SECRET: `whsec_${canary}`,
      DATABASE_URL: `mysql://${canary}:${canary}@${canary}/${canary}`,
      DATABASE_POOL_SIZE: canary,
      DATABASE_PREPARED_STATEMENTS: canary,
      SMTP_URL: `https://${canary}`,
      MAIL_FROM: canary,
      IDENTITY_SUPPORT_URL: canary,
      IDENTITY_SIGN_UP: canary,
      LOG_LEVEL: canary,
      PORT: canary,
      METRICS_PORT: canary,
      SHUTDOWN_DELAY_SECONDS: canary,
      TRUSTED_PROXIES: canary,
    };
    expect(faultsOf({ ...production, ...wrong }).sort()).toEqual(Object.keys(wrong).sort());
    expect(messageOf({ ...production, ...wrong }).split('\n')).toHaveLength(1 + Object.keys(wrong).length);
  });
});

describe('the setting', () => {
  const seconds = {
    good: ['30', '300', '3600'],
    bad: ['29', '3601', '0', '-30', '300.5', '3e2', '0x12c', '5m'],
  };

  it.each<[string, string[], string[]]>([
    ['IDENTITY_SSO_TTL', seconds.good, seconds.bad],
    ['MARKETPLACE_SSO_TTL', seconds.good, seconds.bad],
    ['METRICS_PORT', ['1', '9464', '65535'], ['0', '65536', '-1', '80.5', 'http', '3000']],
    ['SHUTDOWN_DELAY_SECONDS', ['0', '5', '60'], ['61', '-1', '5s', '0.5']],
    ['PORT', ['1', '8080', '65535'], ['65536', '-1', '80.5', 'http', '+80', '1e3', '٣٠٠٠']],
    [
      'IDENTITY_ISSUER',
      ['https://id.example.test', 'https://id.example.test:8443', 'https://xn--mnchen-3ya.example.test'],
      [
        'http://id.example.test',
        'id.example.test',
        '//id.example.test',
        'https://id.example.test/',
        'https://id.example.test:443',
        'https://id.example.test/auth',
        'https://id.example.test?x=1',
        'https://id.example.test/#x',
        'https://zoe:pass@id.example.test',
        'https://ID.example.test',
        'https://',
        'javascript:alert(1)',
      ],
    ],
    [
      'DATABASE_URL',
      ['postgres://db/identity', 'postgresql://u:p@db:5433/identity?sslmode=require'],
      ['mysql://db/identity', 'https://db.example.test', 'db:5432/identity', 'identity', 'postgres'],
    ],
    [
      'SMTP_URL',
      [
        'smtp://mail.example.test:587',
        'smtps://u:p@mail.example.test',
        'smtp://mail.example.test?tls=off',
        'smtp://mail.example.test?tls.servername=mx.example.test',
      ],
      [
        'smtp://mail.example.test?tls=on',
        'smtp://mail.example.test?tls=',
        'smtp://mail.example.test?tls=off&tls=off',
        'mail.example.test',
        'mail.example.test:25',
        'http://mail.example.test',
        'imap://mail.example.test',
      ],
    ],
    [
      'SSO_CRM_LOGIN_URL',
      ['https://crm.example.test/login', 'https://crm.example.test/login?from=identity'],
      [
        'http://crm.example.test/login',
        'http://localhost/login',
        '/login',
        'javascript:alert(1)',
        'https://zoe:pass@crm.example.test/login',
      ],
    ],
    [
      'SSO_CRM_EVENTS_URL',
      ['https://crm.example.test/events', 'https://crm.example.test:8443/events?from=identity'],
      [
        'http://crm.example.test/events',
        'http://localhost/events',
        '/events',
        'crm.example.test/events',
        'https://crm.example.test/events#x',
        'https://zoe:pass@crm.example.test/events',
      ],
    ],
    ...['IDENTITY_PRIVACY_URL', 'IDENTITY_TERMS_URL', 'IDENTITY_ACCESSIBILITY_URL'].map(
      (setting): [string, string[], string[]] => [
        setting,
        ['https://example.test/words', 'https://example.test/words?lang=en'],
        ['http://example.test/words', 'mailto:words@example.test', '/words', 'javascript:alert(1)'],
      ],
    ),
    [
      'IDENTITY_SECURITY_CONTACT',
      ['https://example.test/report', 'mailto:security@example.test'],
      ['http://example.test/report', 'security@example.test', 'javascript:alert(1)'],
    ],
    [
      'IDENTITY_SUPPORT_URL',
      ['https://help.example.test/contact', 'mailto:help@example.test', 'mailto:a@b.test?subject=Login'],
      ['http://help.example.test', 'help@example.test', '/help', 'tel:+431', 'javascript:alert(1)'],
    ],
    ['IDENTITY_SIGN_UP', ['open', 'closed'], ['on', 'off', 'Open', 'true']],
    ['LOG_LEVEL', ['info', 'error'], ['warn', 'debug', 'silent', 'INFO', '30']],
    ...['IDENTITY_NAME', 'SSO_CRM_TITLE'].map((setting): [string, string[], string[]] => [
      setting,
      ['X', 'Example ID', 'Zoë’s 身份', 'x'.repeat(60)],
      ['x'.repeat(61), 'a\u0000b', '\u200b', 'a\u202eb', 'a\nb'],
    ]),
    [
      'MAIL_FROM',
      ['id@example.test', 'Identity <id@example.test>', 'Zoë’s <id@example.test>'],
      ['id', 'id@', '@example.test', 'a@b.test, c@d.test', 'id@example.test\r\nBcc: zoe@evil.test'],
    ],
    [
      'TRUSTED_PROXIES',
      ['none', '10.0.0.1', '10.0.0.0/8, 2001:db8::/32', 'loopback', 'loopback,uniquelocal'],
      ['none,10.0.0.1', 'None', 'proxy.example.test', '10.0.0.0/33', '10.0.0.1,', '10.0.0.300', '*', 'true'],
    ],
  ])('%s accepts valid values, and is named for any other (contract 8.3 and 8.35)', (setting, good, bad) => {
    for (const value of good) expect(faultsOf({ ...production, [setting]: value }), value).toEqual([]);
    for (const value of bad) expect(faultsOf({ ...production, [setting]: value }), value).toEqual([setting]);
  });

  it.each([
    'https://id.example.test/',
    'https://id.example.test:443',
    `https://id.example.test/${canary}`,
    `https://id.example.test?${canary}`,
    `https://id.example.test/#${canary}`,
    `https://${canary}:${canary}@id.example.test`,
    'https://ID.Example.test',
    'HTTPS://id.example.test',
  ])(
    'IDENTITY_ISSUER in another spelling (%s) is refused with the right one, and nothing else of it (contract 8.1)',
    (text) => {
      const wrong = { ...production, IDENTITY_ISSUER: text, PORT: canary };
      expect(messageOf(wrong).split('\n')).toEqual([
        'These settings are wrong:',
        '  PORT must be a whole number from 1 to 65535',
        '  IDENTITY_ISSUER must be exactly https://id.example.test, as payloads carry it byte for byte',
      ]);
    },
  );

  it('IDENTITY_ISSUER has its default in the right spelling, whatever the port', () => {
    expect(readConfig({ PORT: '80' }).issuer).toBe('http://localhost');
  });

  it('IDENTITY_SSO_TTL is for hand-offs out, and MARKETPLACE_SSO_TTL for hand-offs in (contract 8.3 and 8.11)', () => {
    const config = readConfig({ ...production, IDENTITY_SSO_TTL: '60', MARKETPLACE_SSO_TTL: '90' });
    expect([...config.clients.values()].map(({ ttlSeconds }) => ttlSeconds)).toEqual([60, 60, 60]);
    expect(config.marketplaceInbound?.ttlSeconds).toBe(90);
  });

  it('TRUSTED_PROXIES trusts the addresses it lists and no other', () => {
    const { trustsProxy } = readConfig({ TRUSTED_PROXIES: '10.0.0.0/8, 2001:db8::1' });
    for (const address of ['10.0.0.1', '10.255.255.255', '::ffff:10.1.2.3', '2001:db8::1']) {
      expect(trustsProxy(address), address).toBe(true);
    }
    for (const address of ['11.0.0.1', '127.0.0.1', '::1', '2001:db8::2', '', 'unknown', '10.0.0.1:80']) {
      expect(trustsProxy(address), address).toBe(false);
    }
  });
});

describe('how long books are kept', () => {
  it('ignores the setting that said it, whatever it says (contract 8.29)', () => {
    expect(readConfig({ BILLING_RETENTION_YEARS: '5' }).formerSettings).toEqual(['BILLING_RETENTION_YEARS']);
    expect(listSettings()).not.toContain('BILLING_RETENTION_YEARS');
  });

  it('is until 2037 at the earliest: build the deletion before then (contract 7.370)', () => {
    expect(new Date().getUTCFullYear()).toBeLessThan(2032);
  });
});

describe('the list of settings', () => {
  it('has every setting that the service reads, each once', () => {
    const listed = listSettings();
    expect(listed).toEqual([...new Set(listed)]);
    expect(listed).toEqual(expect.arrayContaining(Object.keys(production)));
    expect(listed).toEqual(expect.arrayContaining(['IDENTITY_SSO_SECRET', 'SSO_CLIENTS', 'PORT', 'HOST']));
    expect(listed.filter((name) => !/^[A-Z_]+$/.test(name))).toEqual([
      'SSO_<NAME>_CALLBACK_URL',
      'SSO_<NAME>_LOGIN_URL',
      'SSO_<NAME>_EVENTS_URL',
      'SSO_<NAME>_TITLE',
      'SSO_<NAME>_LOGO_FILE',
      'SSO_<NAME>_LOGO_DARK_FILE',
      'SSO_<NAME>_LISTED',
      'SSO_<NAME>_FACTOR',
      'SSO_<NAME>_ROLES',
      'SSO_<NAME>_SECRET',
      'SSO_<NAME>_SECRET_FILE',
    ]);
  });

  it('has every setting that is read in production', () => {
    const asked = new Set<string>();
    const env = new Proxy(production, {
      get(settings, name: string) {
        asked.add(name);
        return settings[name];
      },
    });
    readConfig(env);
    expect(listSettings()).toEqual(expect.arrayContaining([...asked]));
  });
});
