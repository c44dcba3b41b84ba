import { describe, expect, it } from 'vitest';
import { readConfig } from '../../server/settings/config.ts';
import { canary, faultsOf, production } from '../support/app/settings.ts';
import { example } from '../support/clients/hand-off.ts';

const signing = ['SSO_MARKETPLACE_SECRET', 'SSO_WEBSITE_SECRET', 'SSO_CRM_SECRET', 'MARKETPLACE_SSO_SECRET'];
const unlike = 'rW5tGy6hUj7iKo8lPz1xCs2vDf3bNg4m';

const whsec = (bytes: number) => {
  const key = Uint8Array.from({ length: bytes }, (_, at) => (at * 89 + 31) % 256);
  return `whsec_${btoa(String.fromCharCode(...key))}`;
};

// Contract 8.34.
describe.each(signing)('%s', (setting) => {
  it.each([
    ['32 characters', unlike],
    ['16 characters of two bytes', 'ëïöüáéíóúàèìòùâê'],
    ['8 characters of four bytes', '🐌🐙🐝🐞🐡🐢🐣🐤'],
    ['a long passphrase with spaces in it', 'seven lamps & a kettle blue as the sea'],
  ])('may be %s in production', (_, secret) => {
    expect(faultsOf({ ...production, [setting]: secret })).toEqual([]);
  });

  it.each([
    ['31 characters', unlike.slice(1)],
    ['15 characters of two bytes and one of one', 'ëïöüáéíóúàèìòùâe'],
    ['a short secret before a long one', `${unlike.slice(1)},${unlike}`],
    ['a short secret after a long one', `${unlike},${unlike.slice(1)}`],
  ])('may not be %s in production', (_, secret) => {
    expect(faultsOf({ ...production, [setting]: secret })).toEqual([setting]);
  });

  it.each([
    'changeme-changeme-changeme-changeme',
    'CHANGE_ME_before_you_go_to_production',
    'replace-me-with-something-long-and-random',
    'please-replace-this-with-a-real-secret!',
    'your-secret-here-your-secret-here-now',
    'placeholder-placeholder-placeholder-1',
    'this is an example secret for the manual',
    'a-dummy-secret-for-the-staging-machine',
    'x'.repeat(32),
    '0123'.repeat(8),
    'local-identity-sso-secret-do-not-use',
    'local-marketplace-sso-secret-do-not-use',
    example.secret,
    example.signature_next_secret,
  ])('is refused in production as a known placeholder: %s', (secret) => {
    expect(faultsOf({ ...production, [setting]: secret })).toEqual([setting]);
    expect(faultsOf({ ...production, [setting]: `${unlike},${secret}` })).toEqual([setting]);
  });

  it.each([
    ['three secrets', `${unlike},${unlike}2,${unlike}3`],
    ['an empty second secret', `${unlike},`],
    ['an empty first secret', `,${unlike}`],
    ['nothing but a comma', ','],
    ['a space after the comma', `${unlike}, ${unlike}2`],
    ['a line break at the end', `${unlike}\n`],
  ])('is refused in either mode, not repaired, with %s', (_, secrets) => {
    expect(faultsOf({ ...production, [setting]: secrets })).toEqual([setting]);
    expect(faultsOf({ [setting]: secrets })).toEqual([setting]);
  });

  it('may hold two secrets during a rotation, and keeps their order (contract 8.30)', () => {
    const settings = { ...production, [setting]: `${unlike}2,${unlike}1` };
    const { clients, marketplaceInbound } = readConfig(settings);
    const held = [...clients.values(), marketplaceInbound].map((holder) => holder?.secrets);
    expect(held).toContainEqual([`${unlike}2`, `${unlike}1`]);
  });
});

describe('a secret used twice in production (contract 8.34)', () => {
  it('is an error if it rotates to itself', () => {
    for (const setting of [...signing, 'CRM_SIGNUPS_SECRET', 'PAYMENTS_SECRET']) {
      const [secret] = production[setting]?.split(',') ?? [];
      expect(faultsOf({ ...production, [setting]: `${secret},${secret}` })).toEqual([setting]);
    }
  });

  const pairs = signing.flatMap((one, at) => signing.slice(at + 1).map((other) => [one, other] as const));

  it.each(pairs)('is an error in both %s and %s, as first or second secret', (one, other) => {
    const reused = `${unlike}${canary}`;
    for (const [mine, yours] of [
      [reused, reused],
      [`${unlike},${reused}`, reused],
      [`${reused},${unlike}`, `${unlike}2,${reused}`],
    ]) {
      expect(faultsOf({ ...production, [one]: mine, [other]: yours }).sort()).toEqual([one, other].sort());
    }
  });

  it('is no error if the two only begin alike', () => {
    const alike = { SSO_CRM_SECRET: `${unlike}1`, MARKETPLACE_SSO_SECRET: `${unlike}2` };
    expect(faultsOf({ ...production, ...alike })).toEqual([]);
  });

  // In these cases the two settings have the same secret. whsec_ and base64 are only ways to write it.
  it.each([
    ['in the same spelling', (key: string) => key],
    ['without whsec_', (key: string) => key.slice(6)],
    ['decoded', (key: string) => atob(key.slice(6))],
  ])('is an error in CRM_SIGNUPS_SECRET and the secret of the other direction, %s', (_, spell) => {
    const key = `whsec_${btoa(unlike)}`;
    const settings = { ...production, CRM_SIGNUPS_SECRET: key, SSO_CRM_SECRET: spell(key) };
    expect(faultsOf(settings).sort()).toEqual(['CRM_SIGNUPS_SECRET', 'SSO_CRM_SECRET']);
  });

  it('is an error in CRM_SIGNUPS_SECRET and PAYMENTS_SECRET', () => {
    const settings = { ...production, PAYMENTS_SECRET: production.CRM_SIGNUPS_SECRET };
    expect(faultsOf(settings).sort()).toEqual(['CRM_SIGNUPS_SECRET', 'PAYMENTS_SECRET']);
  });
});

describe.each([
  ['CRM_SIGNUPS_SECRET', 'crmSignupsSecrets'],
  ['PAYMENTS_SECRET', 'paymentsSecrets'],
] as const)('%s', (setting, member) => {
  it.each([24, 25, 26, 32, 63, 64])('may have %i bytes, and stays as it is', (bytes) => {
    const settings = { ...production, [setting]: whsec(bytes) };
    expect(readConfig(settings)[member]).toEqual([whsec(bytes)]);
  });

  it('may hold two secrets during a rotation', () => {
    const both = [whsec(32), whsec(24)];
    const settings = { ...production, [setting]: both.join() };
    expect(readConfig(settings)[member]).toEqual(both);
    expect(faultsOf({ [setting]: `${whsec(32)},${whsec(23)}` })).toEqual([setting]);
  });

  it.each([
    ['only 23 bytes', whsec(23)],
    ['65 bytes', whsec(65)],
    ['no bytes', 'whsec_'],
    ['no whsec_', whsec(32).slice(6)],
    ['whsec_ in capitals', whsec(32).replace('whsec', 'WHSEC')],
    ['another prefix', whsec(32).replace('whsec', 'whpk')],
    ['no base64', `whsec_${unlike}!`],
    ['no padding', whsec(32).replace(/=+$/, '')],
    ['too much padding', `${whsec(24)}=`],
    ['the URL-safe alphabet', `whsec_${'-_'.repeat(16)}`],
    // If A were the last letter, the decoded bytes would be the same.
    ['stray bits at the end', `whsec_${'A'.repeat(42)}B=`],
    ['a line break inside', whsec(64).replace(/(.{40})/, '$1\n')],
  ])('is refused in either mode with %s', (_, secret) => {
    expect(faultsOf({ ...production, [setting]: secret })).toEqual([setting]);
    expect(faultsOf({ [setting]: secret })).toEqual([setting]);
  });

  it('is refused in production if it is the default of local mode', () => {
    const [local] = readConfig({})[member] ?? [];
    expect(local).toBeDefined();
    expect(faultsOf({ ...production, [setting]: local })).toEqual([setting]);
  });
});

describe('IDENTITY_ENCRYPTION_KEY', () => {
  const key = (bytes: number) => whsec(bytes).slice(6);
  const faults = (keys: string | undefined) => faultsOf({ ...production, IDENTITY_ENCRYPTION_KEY: keys });

  it('is 32 bytes in base64, or two of them during a rotation, in their order', () => {
    const [mine = '', other = ''] = [production.IDENTITY_ENCRYPTION_KEY, key(32)];
    const { encryptionKeys } = readConfig({ ...production, IDENTITY_ENCRYPTION_KEY: `${other},${mine}` });
    expect(encryptionKeys.map((each) => btoa(String.fromCharCode(...each)))).toEqual([other, mine]);
    expect(faults(`${mine},${other},${mine}`)).toEqual(['IDENTITY_ENCRYPTION_KEY']);
    expect(faults(`${mine},${mine}`)).toEqual(['IDENTITY_ENCRYPTION_KEY']);
  });

  it.each([
    ['31 bytes', key(31)],
    ['33 bytes', key(33)],
    ['whsec_', whsec(32)],
    ['no padding', key(32).replace('=', '')],
    ['stray bits at the end', `${key(32).slice(0, 42)}B=`],
    ['the URL-safe alphabet', `${'-_'.repeat(21)}-=`],
    ['hex digits', 'ab'.repeat(32)],
  ])('is refused in either mode with %s', (_, wrong) => {
    expect(faults(wrong)).toEqual(['IDENTITY_ENCRYPTION_KEY']);
    expect(faultsOf({ IDENTITY_ENCRYPTION_KEY: wrong })).toEqual(['IDENTITY_ENCRYPTION_KEY']);
  });

  it.each([
    ['the default of local mode', btoa('local-encryption-key-do-not-use!')],
    ['nothing but zeros', `${'A'.repeat(43)}=`],
    ['a pattern', btoa('01234567'.repeat(4))],
  ])('is refused in production if it is %s', (_, known) => {
    expect(faults(known)).toEqual(['IDENTITY_ENCRYPTION_KEY']);
    expect(faultsOf({ IDENTITY_ENCRYPTION_KEY: known })).toEqual([]);
  });

  it('is used for nothing else', () => {
    const secret = `whsec_${production.IDENTITY_ENCRYPTION_KEY}`;
    expect(faultsOf({ ...production, CRM_SIGNUPS_SECRET: secret }).sort()).toEqual([
      'CRM_SIGNUPS_SECRET',
      'IDENTITY_ENCRYPTION_KEY',
    ]);
  });
});

it('IDENTITY_ADMIN_SECOND_FACTOR is required in production, and optional elsewhere, unless it says otherwise', () => {
  expect(readConfig(production).requiresAdminFactor).toBe(true);
  expect(readConfig({}).requiresAdminFactor).toBe(false);
  for (const [word, isRequired] of [
    ['required', true],
    ['optional', false],
  ] as const) {
    const setting = { IDENTITY_ADMIN_SECOND_FACTOR: word };
    expect(readConfig({ ...production, ...setting }).requiresAdminFactor).toBe(isRequired);
    expect(readConfig(setting).requiresAdminFactor).toBe(isRequired);
  }
});

describe('the legacy marketplace', () => {
  it('has both an issuer and a secret in production, or neither (contract 8.11 and 8.12)', () => {
    const neither = { MARKETPLACE_SSO_ISSUER: undefined, MARKETPLACE_SSO_SECRET: undefined };
    expect(faultsOf({ ...production, ...neither })).toEqual([]);
    for (const setting of Object.keys(neither)) {
      expect(faultsOf({ ...production, [setting]: undefined })).toEqual([setting]);
    }
  });

  it('has a default in local mode for whichever is missing', () => {
    for (const setting of ['MARKETPLACE_SSO_ISSUER', 'MARKETPLACE_SSO_SECRET']) {
      const { marketplaceInbound } = readConfig({ [setting]: production[setting] });
      expect(Object.values(marketplaceInbound ?? {}).flat()).toContain(production[setting]);
      expect(marketplaceInbound?.issuer && marketplaceInbound.secrets[0]).toBeTruthy();
    }
  });
});
