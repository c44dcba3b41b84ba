import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { buildAccent, buildStyles, contrastOf, parse, usualAccent } from '../../server/settings/accent.ts';
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
const prefixes = ['IDENTITY', 'SSO_MARKETPLACE', 'SSO_WEBSITE', 'SSO_CRM', 'SSO_SHOP'];
const settings = prefixes.flatMap((prefix) => [`${prefix}_LOGO_FILE`, `${prefix}_LOGO_DARK_FILE`]);
const shop = {
  SSO_CLIENTS: 'shop',
  SSO_SHOP_CALLBACK_URL: 'https://shop.example.test/cb',
  SSO_SHOP_SECRET: 'bT6yHn5mJu7kIl8oPq9wSx2eDc3rFv4t',
};
const faultsWith = (setting: string, value: string) => faultsOf({ ...production, ...shop, [setting]: value });
/** Returns the faults of the settings if `setting` is set together with a right logo for light pages. */
const faultsWithLogo = async (setting: string, value: string) => {
  const light = { [setting.replace('_DARK', '')]: await file('right', svg) };
  return faultsOf({ ...production, ...shop, ...light, [setting]: value });
};

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
    expect(await faultsWithLogo(setting, await file('good', content))).toEqual([]);
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
    expect(await faultsWithLogo(setting, await file(`${canary}.svg`, content))).toEqual([setting]);
  });

  it('must name a file that can be read', async () => {
    await mkdir(join(folder, 'folder'), { recursive: true });
    for (const name of [join(folder, 'none.svg'), join(folder, 'folder'), '/dev/zero', '\0'])
      expect(await faultsWithLogo(setting, name), name).toEqual([setting]);
  });
});

it.each(prefixes)('%s_LOGO_DARK_FILE needs the other logo (contract 8.87)', async (prefix) => {
  const setting = `${prefix}_LOGO_DARK_FILE`;
  const dark = await file(`${canary}.svg`, svg);
  expect(faultsWith(setting, dark)).toEqual([setting]);
  const message = messageOf({ ...production, ...shop, [setting]: dark });
  expect(message).toContain(`${setting} needs ${prefix}_LOGO_FILE beside it`);
  expect(message.toLowerCase()).not.toContain(canary);
  // If the file of the light logo is wrong, that is the only fault.
  expect(faultsOf({ ...production, ...shop, [setting]: dark, [`${prefix}_LOGO_FILE`]: 'none' })).toEqual([
    `${prefix}_LOGO_FILE`,
  ]);
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
    SSO_MARKETPLACE_LOGO_DARK_FILE: one,
  });
  expect(brand.logoPath).toMatch(/^\/brand\/[0-9a-f]{24}\.svg$/);
  expect(clients.get('crm_app')?.logoPath).toBe(brand.logoPath);
  expect(clients.get('marketplace')?.logoPath).not.toBe(brand.logoPath);
  expect(clients.get('marketplace')?.logoDarkPath).toBe(brand.logoPath);
  expect([brand.logoDarkPath, clients.get('network_site')?.logoPath]).toEqual([undefined, undefined]);
});

it.each([
  ['« Zoë »', 'Z'],
  ['क्षितिज', 'क्षि'],
  ['E\u0301cole', 'E\u0301'],
  ['מבשר', 'מ'],
  ['\u200f👩‍👩‍👧!', '👩‍👩‍👧'],
  ['<&>', '&lt;'],
])('the icon of %s is %s (contract 8.90)', (name, initial) => {
  const { brand, brandFiles } = readConfig({ IDENTITY_NAME: name });
  const { bytes } = brandFiles.find(brand.icons[0].href) ?? {};
  expect(new TextDecoder().decode(bytes)).toContain(`>${initial}</text></svg>`);
});

describe('IDENTITY_ACCENT_COLOR', () => {
  const faultsOfColour = (colour: string) => faultsWith('IDENTITY_ACCENT_COLOR', colour);

  it.each(['#0e6b56', '#1E3A8A', '#000000', '#ffffff', '#ffee00', '#777777'])('may be %s', (colour) => {
    expect(faultsOfColour(colour)).toEqual([]);
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

  // Every 17th value of each channel: 4,096 colours.
  const steps = Array.from({ length: 16 }, (_, step) => (step * 17).toString(16).padStart(2, '0'));
  const colours = steps.flatMap((red) =>
    steps.flatMap((green) => steps.map((blue) => `#${red}${green}${blue}`)),
  );

  const contrast = (one: string, other: string) => contrastOf(parse(one), parse(other));
  const styles = () => readFile(new URL('../../app/styles/tokens.css', import.meta.url), 'utf8');

  it('has black or white on it, whichever has more contrast (contract 8.88)', () => {
    const wrong = colours.filter((colour) => {
      const { ink, onLight, onDark } = buildAccent(colour);
      const best = Math.max(contrast(colour, '#000000'), contrast(colour, '#ffffff'));
      const fills = [onLight.fill, onLight.hover, onDark.fill, onDark.hover];
      return (
        onLight.fill !== colour ||
        contrast(colour, ink) !== best ||
        fills.some((fill) => contrast(fill, ink) < 4.5)
      );
    });
    expect(wrong).toEqual([]);
    expect(buildAccent('#ffee00').ink).toBe('#000000');
    expect(buildAccent('#1E3A8A')).toMatchObject({ ink: '#ffffff', onLight: { fill: '#1e3a8a' } });
  });

  it('has shades that can be read on every background of pages and mails (contract 8.89)', async () => {
    const grounds = [...(await styles()).matchAll(/--(\S+): light-dark\((#\w+), (#\w+)\)/g)]
      .filter(([, name = '']) => /^(?:ground|surface|raised|sunken|good|waiting|bad)$/.test(name))
      .map(([, , light = '', dark = '']) => [light, dark] as const);
    expect(grounds).toHaveLength(7);
    const paper = [...grounds.map(([light]) => light), '#ffffff', '#f6f7f6'];
    const night = [...grounds.map(([, dark]) => dark), '#14171a', '#1c2024'];
    const unreadable = colours.filter((colour) => {
      const { onLight, onDark } = buildAccent(colour);
      return [
        { ...onLight, on: paper },
        { ...onDark, on: night },
      ].some(
        ({ text, soft, edge, on }) =>
          [...on, soft].some((ground) => contrast(text, ground) < 4.5) ||
          on.slice(0, 4).some((ground) => contrast(edge, ground) < 3),
      );
    });
    expect(unreadable).toEqual([]);
    // A colour that has enough contrast by itself does not change.
    expect(buildAccent('#1e3a8a').onLight).toMatchObject({ text: '#1e3a8a', edge: '#1e3a8a' });
  });

  it('is the colour in app/styles if it is not set', async () => {
    const lines = (text: string) => text.split('\n').filter((line) => line.includes('--accent'));
    expect(lines(await styles())).toEqual(lines(buildStyles(usualAccent)));
  });
});
