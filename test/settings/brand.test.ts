import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildAccent, contrastOf, parse } from '../../server/settings/accent.ts';
import { readConfig } from '../../server/settings/config.ts';
import { canary, faultsOf, messageOf, production } from '../support/app/settings.ts';
import { sharedFolder } from '../support/run/shared.ts';

const folder = await sharedFolder();

async function file(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name);
  await writeFile(path, content);
  return path;
}

const svg = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"><rect width="1" height="1"/></svg>';
const png = Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]);
const settings = [
  'IDENTITY_LOGO_FILE',
  'SSO_MARKETPLACE_LOGO_FILE',
  'SSO_WEBSITE_LOGO_FILE',
  'SSO_CRM_LOGO_FILE',
  'SSO_SHOP_LOGO_FILE',
];
const shop = {
  SSO_CLIENTS: 'shop',
  SSO_SHOP_CALLBACK_URL: 'https://shop.example.test/cb',
  SSO_SHOP_SECRET: 'bT6yHn5mJu7kIl8oPq9wSx2eDc3rFv4t',
};
const faultsWith = (setting: string, value: string) => faultsOf({ ...production, ...shop, [setting]: value });

describe.each(settings)('%s', (setting) => {
  it.each([
    ['an SVG', svg],
    [
      'an SVG with all that may come before',
      `\ufeff<?xml version="1.0"?>\n<!-- a --><!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "a.dtd">\n<!-- b -->${svg}`,
    ],
    ['a PNG', png],
    ['an SVG of 64 KiB', svg.padEnd(65_536)],
  ])('may be %s, whatever its name', async (_, content) => {
    expect(faultsWith(setting, await file('good', content))).toEqual([]);
  });

  it.each([
    ['larger than 64 KiB', svg.padEnd(65_537)],
    ['empty', ''],
    ['a page', '<!doctype html><title>x</title><svg xmlns="http://www.w3.org/2000/svg"></svg>'],
    ['an SVG of no namespace', '<svg viewBox="0 0 1 1"></svg>'],
    ['an SVG with entities', `<!DOCTYPE svg [<!ENTITY a "a">]>${svg}`],
    ['a JPEG', Uint8Array.from([0xff, 0xd8, 0xff, 0xe0])],
    ['not UTF-8', Uint8Array.from([...new TextEncoder().encode(svg), 0xff])],
  ])('must not be %s', async (_, content) => {
    expect(faultsWith(setting, await file(`${canary}.svg`, content))).toEqual([setting]);
  });

  it('must name a file that can be read', async () => {
    await mkdir(join(folder, 'folder'), { recursive: true });
    for (const name of [join(folder, 'none.svg'), join(folder, 'folder'), '/dev/zero', '\0'])
      expect(faultsWith(setting, name), name).toEqual([setting]);
  });
});

it('the wrong logos and the wrong colour are all named at once, without a value', async () => {
  const wrong = await file(`${canary}.svg`, canary);
  const values = Object.fromEntries(settings.map((setting) => [setting, wrong]));
  const all = { ...production, ...shop, ...values, IDENTITY_ACCENT_COLOR: canary };
  expect(faultsOf(all).sort()).toEqual([...settings, 'IDENTITY_ACCENT_COLOR'].sort());
  expect(messageOf(all).toLowerCase()).not.toContain(canary);
});

it('the same file has one path, and another file another', async () => {
  const [one, two] = [await file('one.svg', svg), await file('two.svg', `${svg}\n`)];
  const { brand, clients } = readConfig({
    IDENTITY_LOGO_FILE: one,
    SSO_CRM_LOGO_FILE: one,
    SSO_MARKETPLACE_LOGO_FILE: two,
  });
  expect(brand.logoPath).toMatch(/^\/brand\/[0-9a-f]{24}\.svg$/);
  expect(clients.get('crm_app')?.logoPath).toBe(brand.logoPath);
  expect(clients.get('marketplace')?.logoPath).not.toBe(brand.logoPath);
  expect(clients.get('network_site')?.logoPath).toBeUndefined();
});

describe('IDENTITY_ACCENT_COLOR', () => {
  const faultsOfColour = (colour: string) => faultsWith('IDENTITY_ACCENT_COLOR', colour);

  it.each(['#0e6b56', '#635bff', '#1E3A8A', '#000000', '#767676', '#d0021b'])('may be %s', (colour) => {
    expect(faultsOfColour(colour)).toEqual([]);
  });

  it.each(['#ffffff', '#777777', '#f5a623', '#00c389'])('must not be as light as %s', (colour) => {
    expect(faultsOfColour(colour)).toEqual(['IDENTITY_ACCENT_COLOR']);
    const message = messageOf({ IDENTITY_ACCENT_COLOR: colour });
    expect(message).toContain(
      'IDENTITY_ACCENT_COLOR must be darker: white text on it needs a contrast of 4.5 to 1',
    );
  });

  it.each(['red', '#123', '0e6b56', '#0e6b5g', '#0e6b56ff', 'rgb(1,2,3)', '#0e6b56;}*{color:red'])(
    'must have the form #rrggbb, so not %s',
    (colour) => {
      expect(faultsOfColour(colour)).toEqual(['IDENTITY_ACCENT_COLOR']);
    },
  );

  it('measures contrast as WCAG does', () => {
    const contrast = (one: string, other: string) => contrastOf(parse(one), parse(other));
    expect(contrast('#000000', '#ffffff')).toBe(21);
    expect(contrast('#ffffff', '#ffffff')).toBe(1);
    expect(contrast('#767676', '#ffffff')).toBeCloseTo(4.54, 2);
    expect(contrast('#ffffff', '#777777')).toBeCloseTo(4.48, 2);
    expect(contrast('#ff0000', '#0000ff')).toBeCloseTo(2.15, 2);
  });

  // Every 17th of each channel: 4,096 colours.
  const steps = Array.from({ length: 16 }, (_, step) => (step * 17).toString(16).padStart(2, '0'));
  const colours = steps.flatMap((red) =>
    steps.flatMap((green) => steps.map((blue) => `#${red}${green}${blue}`)),
  );

  it('makes shades of every colour that it takes, that can be read on every background', () => {
    const contrast = (one: string, other: string) => contrastOf(parse(one), parse(other));
    const taken = colours.filter((colour) => contrast(colour, '#ffffff') >= 4.5);
    expect(taken.length).toBeGreaterThan(1_400);
    const unreadable = taken.filter((colour) => {
      const { light, dark, textLight, textDark } = buildAccent(colour);
      return (
        contrast(light, '#ffffff') < 4.5 ||
        contrast(dark, '#ffffff') < 4.5 ||
        ['#0e1013', '#14171a', '#16181c', '#1d2025'].some((ground) => contrast(dark, ground) < 3) ||
        ['#ffffff', '#f6f7f6', '#f1f3f5', '#e8f3ee'].some((ground) => contrast(textLight, ground) < 4.5) ||
        ['#0e1013', '#1c2024', '#22262b', '#2b3036'].some((ground) => contrast(textDark, ground) < 4.5)
      );
    });
    expect(unreadable).toEqual([]);
  });
});
