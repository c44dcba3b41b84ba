// Contract 8.64 and 8.66: every secret may be in a file.
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listInForce, listSettings, readConfig } from '../../server/settings/config.ts';
import { canary, faultsOf, messageOf, production, type Settings } from '../support/app/settings.ts';
import { sharedFolder } from '../support/run/shared.ts';

const folder = await sharedFolder();

let count = 0;
async function file(content: string | Uint8Array): Promise<string> {
  const path = join(folder, `${canary}-${++count}`);
  await writeFile(path, content);
  return path;
}

const secrets = [
  'SSO_MARKETPLACE_SECRET',
  'SSO_WEBSITE_SECRET',
  'SSO_CRM_SECRET',
  'SSO_SHOP_SECRET',
  'MARKETPLACE_SSO_SECRET',
  'CRM_SIGNUPS_SECRET',
  'PAYMENTS_SECRET',
  'IDENTITY_ENCRYPTION_KEY',
  'DATABASE_URL',
  'SMTP_URL',
];
const all: Settings = {
  ...production,
  SSO_CLIENTS: 'shop',
  SSO_SHOP_CALLBACK_URL: 'https://shop.example.test/cb',
  SSO_SHOP_SECRET: 'bT6yHn5mJu7kIl8oPq9wSx2eDc3rFv4t',
};
const without = (setting: string, more: Settings = {}): Settings => ({
  ...all,
  [setting]: undefined,
  ...more,
});

/** Returns the settings without functions, which are different at each reading. */
const readPlain = (settings: Settings) => JSON.stringify(readConfig(settings), plainMaps);
const plainMaps = (_: string, value: unknown) =>
  value instanceof Map
    ? [...value]
    : value instanceof Uint8Array
      ? Buffer.from(value).toString('base64')
      : value;

it('the settings that hold a secret or a password are secret, and no others', () => {
  const files = listSettings().filter((name) => /(?<!_LOGO|_DARK)_FILE$/.test(name));
  const shops = secrets.map((name) => name.replace('SHOP', '<NAME>'));
  expect(files.sort()).toEqual([...shops, 'IDENTITY_SSO_SECRET'].map((name) => `${name}_FILE`).sort());
  const named = listSettings().filter((name) => /SECRET$|_KEY$|PASSWORD$|TOKEN$/.test(name));
  expect(named.filter((name) => !files.includes(`${name}_FILE`))).toEqual([]);
  // The values of `production` that look like secrets: URLs with a password, and long random texts.
  const held = Object.entries(production).filter(
    ([, value = '']) => /:\/\/[^/]+:[^/]+@/.test(value) || /^[\w+/=,-]{32,}$/.test(value),
  );
  expect(held.map(([name]) => name).filter((name) => !secrets.includes(name))).toEqual([]);
});

describe.each(secrets)('%s in a file', (setting) => {
  const fileSetting = `${setting}_FILE`;
  const value = all[setting] ?? '';

  it('is read as if it were in the environment, without one line end at its end', async () => {
    const expected = readPlain(all);
    for (const end of ['', '\n', '\r\n'])
      expect(readPlain(without(setting, { [fileSetting]: await file(value + end) }))).toBe(expected);
    const target = await file(value);
    await symlink(target, `${target}-link`);
    // systemd, Docker and Kubernetes give secrets like this: through links, in folders with a path of their own.
    expect(readPlain(without(setting, { [fileSetting]: ` ${target}-link ` }))).toBe(expected);
    expect(readPlain({ ...all, [fileSetting]: ' ' })).toBe(expected);
  });

  it('and in the environment at once is a fault, also where both are the same', async () => {
    const both = { ...all, [fileSetting]: await file(value) };
    expect(faultsOf(both)).toEqual([fileSetting]);
    expect(messageOf(both)).toContain(`${fileSetting} is set, and so is ${setting}: set one of them`);
  });

  it.each<[string, () => Promise<string> | string]>([
    ['not there', () => join(folder, canary)],
    ['a folder', async () => (await mkdir(join(folder, `${canary}d`), { recursive: true })) ?? folder],
    ['a device', () => '/dev/zero'],
    ['no path', () => '\0'],
    ['empty', () => file('')],
    ['nothing but a line end', () => file('\n')],
    ['nothing but spaces', () => file(' \n\n')],
    ['larger than 16 KiB', () => file(`${value}${' '.repeat(16_385 - value.length)}`)],
    ['not UTF-8', () => file(Uint8Array.from([...new TextEncoder().encode(value), 0xff]))],
  ])('that is %s is the only fault, without its path', async (_, make) => {
    const wrong = without(setting, { [fileSetting]: await make() });
    expect(faultsOf(wrong)).toEqual([fileSetting]);
    expect(messageOf(wrong).toLowerCase()).not.toContain(canary);
  });

  it('is held to the rules of the setting, and the fault says which file', async () => {
    const wrong = without(setting, { [fileSetting]: await file(`${canary}\n`) });
    expect(faultsOf(wrong)).toEqual([setting]);
    expect(messageOf(wrong)).toMatch(
      new RegExp(`^ {2}${setting} must .* \\(it is from ${fileSetting}\\)$`, 'm'),
    );
  });
});

it('two line ends are one too many, and so is a space: a secret is the bytes of its file', async () => {
  for (const more of ['\n\n', ' ', ' \n', '\t']) {
    const path = await file(`${all.SSO_CRM_SECRET}${more}`);
    expect(faultsOf(without('SSO_CRM_SECRET', { SSO_CRM_SECRET_FILE: path }))).toEqual(['SSO_CRM_SECRET']);
  }
});

it('secrets of a rotation may be in a file, and a secret in two files is used twice', async () => {
  const both = await file(`${all.SSO_CRM_SECRET},${all.SSO_SHOP_SECRET}\n`);
  const rotating = without('SSO_CRM_SECRET', { SSO_CRM_SECRET_FILE: both, SSO_SHOP_SECRET: undefined });
  expect(readConfig({ ...rotating, SSO_CLIENTS: undefined }).clients.get('crm_app')?.secrets).toEqual([
    all.SSO_CRM_SECRET,
    all.SSO_SHOP_SECRET,
  ]);
  expect(faultsOf({ ...rotating, SSO_SHOP_SECRET_FILE: both }).sort()).toEqual([
    'SSO_CRM_SECRET',
    'SSO_SHOP_SECRET',
  ]);
});

it('every file at fault is named at once, beside the other faults', async () => {
  const wrong = Object.fromEntries(
    secrets.flatMap((setting) => [
      [setting, undefined],
      [`${setting}_FILE`, `/${canary}/${setting}`],
    ]),
  );
  const faults = faultsOf({ ...all, ...wrong, PORT: canary });
  expect(faults.sort()).toEqual([...secrets.map((setting) => `${setting}_FILE`), 'PORT'].sort());
});

it('the file of a secret in local mode takes the place of what is built in', async () => {
  const path = await file('a-secret-of-my-own\n');
  const { clients } = readConfig({ IDENTITY_SSO_SECRET_FILE: path });
  expect(clients.get('crm_app')?.secrets).toEqual(['a-secret-of-my-own']);
});

it('the file of a secret that no client has is noticed, as the secret itself', async () => {
  const path = await file(all.SSO_SHOP_SECRET ?? '');
  expect(readConfig({ ...all, SSO_SHOPP_SECRET_FILE: path }).unreadSettings).toEqual([
    'SSO_SHOPP_SECRET_FILE',
  ]);
  expect(messageOf({ SSO_CRM_APP_SECRET_FILE: path })).toContain('set SSO_CRM_SECRET_FILE instead');
  // A mistaken name is not reported if the right name is set, as a value or as a file.
  const right = without('SSO_CRM_SECRET', { SSO_CRM_SECRET_FILE: await file(all.SSO_CRM_SECRET ?? '') });
  expect(faultsOf({ ...right, SSO_CRM_APP_SECRET: 'x', SSO_CRM_APP_SECRET_FILE: path })).toEqual([]);
});

describe('what is in force', () => {
  const find = (settings: Settings, wanted: string) =>
    listInForce(settings).find(({ name }) => name === wanted);

  it('gives the value and the source of each setting', () => {
    const settings = { ...all, PORT: ' 4000 ', IDENTITY_NAME: '' };
    expect(find(settings, 'PORT')).toEqual({ name: 'PORT', value: '4000', from: 'PORT' });
    expect(find(settings, 'IDENTITY_NAME')).toMatchObject({ value: 'Identity', from: 'default' });
    expect(find(settings, 'SHUTDOWN_DELAY_SECONDS')).toMatchObject({ value: '5', from: 'default' });
    expect(find({}, 'SHUTDOWN_DELAY_SECONDS')).toMatchObject({ value: '0', from: 'default' });
    expect(find({ PORT: '4000' }, 'IDENTITY_ISSUER')).toMatchObject({ value: 'http://localhost:4000' });
    expect(find(settings, 'METRICS_PORT')).toMatchObject({ value: 'not set', from: 'default' });
    expect(find(settings, 'SSO_SHOP_TITLE')).toMatchObject({ value: 'Shop', from: 'default' });
    expect(find(settings, 'SSO_CRM_LISTED')).toMatchObject({ value: 'visited,contract', from: 'default' });
    const names = listInForce({ SSO_CLIENTS: 'name' }).map(({ name }) => name);
    const known = listSettings().filter((name) => !/(?<!_LOGO|_DARK)_FILE$/.test(name));
    expect(names.sort()).toEqual(known.map((name) => name.replace('<NAME>', 'NAME')).sort());
  });

  it('says only whether a secret is set', async () => {
    const path = await file(all.SMTP_URL ?? '');
    const settings = without('SMTP_URL', { SMTP_URL_FILE: path, CRM_SIGNUPS_SECRET: undefined });
    expect(find(settings, 'DATABASE_URL')).toMatchObject({ value: 'set', from: 'DATABASE_URL' });
    expect(find(settings, 'SMTP_URL')).toMatchObject({ value: 'set', from: 'SMTP_URL_FILE' });
    expect(find(settings, 'CRM_SIGNUPS_SECRET')).toMatchObject({ value: 'not set', from: 'default' });
    // Local mode, which has a secret built in, shows the same.
    expect(find({}, 'CRM_SIGNUPS_SECRET')).toMatchObject({ value: 'not set', from: 'default' });
    const shown = JSON.stringify([listInForce(settings), listInForce(all), listInForce({})]);
    expect(shown).not.toContain(path);
    expect(shown).not.toContain('do-not-use');
    for (const setting of secrets)
      for (const part of (all[setting] ?? '')
        .split(/[,:/@?=]+/)
        .filter((text) => text.length > 10 && !/example/.test(text)))
        expect(shown, setting).not.toContain(part);
  });

  it('says that a setting is at fault, and not its value', () => {
    const wrong = {
      ...all,
      PORT: canary,
      SSO_CRM_CALLBACK_URL: `https://a:${canary}@crm.example.test`,
      SMTP_URL: canary,
    };
    for (const name of ['PORT', 'SSO_CRM_CALLBACK_URL', 'SMTP_URL'])
      expect(find(wrong, name)).toEqual({ name, value: 'at fault', from: name });
    expect(find(without('DATABASE_URL'), 'DATABASE_URL')).toMatchObject({
      value: 'at fault',
      from: 'default',
    });
    expect(JSON.stringify(listInForce(wrong))).not.toContain(canary);
  });
});
