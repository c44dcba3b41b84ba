// The logos, the tab's icon and the accent colour of the operator. Each file is read once, and served under a name that contains
// its digest.
import { escapeHtml } from '../basics/escape-html.ts';
import { findInitial } from '../basics/names.ts';
import { readSmallFile } from '../runtime/files.ts';
import { shortDigest } from '../runtime/hash.ts';
import { type Accent, buildStyles, readAccent, usualAccent } from './accent.ts';
import type { SettingsReader } from './reader.ts';

export type BrandFile = { type: string; bytes: Uint8Array<ArrayBuffer> };

export class BrandFiles {
  readonly #files = new Map<string, BrandFile>();

  find(path: string): BrandFile | undefined {
    return this.#files.get(path);
  }

  /** Returns the path that the file is served at. */
  add(bytes: Uint8Array<ArrayBuffer>, type: string, ending: string): string {
    const path = `/brand/${shortDigest(bytes)}.${ending}`;
    this.#files.set(path, { type, bytes });
    return path;
  }
}

/** The paths that the logo is served at. On dark pages, the logo at `logoDarkPath` is shown instead, if there is one. */
export type Logo = { logoPath: string | undefined; logoDarkPath: string | undefined };

/** The attributes of a link to an icon of the browser's tab. */
type Icon = { href: string; type: string | undefined; media?: string };

export type Brand = Logo & {
  accent: Accent;
  /** The last icon is for every browser. */
  icons: [...Icon[], Icon];
  stylesPath: string | undefined;
};

export function readBrand(reader: SettingsReader, files: BrandFiles, name: string): Brand {
  const own = readAccent(reader);
  const accent = own ?? usualAccent;
  const logo = readLogo(reader, files, 'IDENTITY_LOGO');
  const add = (text: string, type: string, ending: string) =>
    files.add(new TextEncoder().encode(text), type, ending);
  return {
    ...logo,
    accent,
    icons: listIcons(files, logo, () => add(drawIcon(name, accent), 'image/svg+xml', 'svg')),
    stylesPath: own && add(buildStyles(own), 'text/css', 'css'),
  };
}

/** `draw` returns the path of an icon for a service without a logo. */
function listIcons(files: BrandFiles, { logoPath, logoDarkPath }: Logo, draw: () => string): Brand['icons'] {
  const icon = (href: string) => ({ href, type: files.find(href)?.type });
  if (!logoPath) return [icon(draw())];
  if (!logoDarkPath) return [icon(logoPath)];
  // If several icons fit, a browser takes the last one.
  return [
    { ...icon(logoDarkPath), media: '(prefers-color-scheme: dark)' },
    { ...icon(logoPath), media: '(prefers-color-scheme: light)' },
  ];
}

const drawIcon = (name: string, { ink, onLight }: Accent) =>
  `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><rect width="32" height="32" rx="8" fill="${onLight.fill}"/><text x="16" y="16" fill="${ink}" font-family="system-ui,sans-serif" font-size="20" font-weight="600" text-anchor="middle" dominant-baseline="central">${escapeHtml(findInitial(name))}</text></svg>`;

/** Reads `…_FILE` and `…_DARK_FILE`. A path is undefined if its setting is missing or wrong. */
export function readLogo(reader: SettingsReader, files: BrandFiles, prefix: string): Logo {
  const [setting, darkSetting] = [`${prefix}_FILE`, `${prefix}_DARK_FILE`];
  const logoPath = readPicture(reader, files, setting);
  const logoDarkPath = readPicture(reader, files, darkSetting);
  reader.faultIf(darkSetting, Boolean(logoDarkPath) && !reader.text(setting), `needs ${setting} beside it`);
  return { logoPath, logoDarkPath };
}

const maxKibibytes = 64;

function readPicture(reader: SettingsReader, files: BrandFiles, setting: string): string | undefined {
  const name = reader.text(setting);
  if (!name) return undefined;
  const bytes = readSmallFile(name, maxKibibytes * 1024);
  const format = bytes && findFormat(bytes);
  reader.faultIf(setting, !bytes, `must name a file that can be read, of ${maxKibibytes} KiB at most`);
  reader.faultIf(setting, Boolean(bytes && !format), 'must name an SVG or PNG file');
  return bytes && format && files.add(bytes, ...format);
}

const pngStart = [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a];

/** Finds the format by the content of the file, not by its name. */
function findFormat(bytes: Uint8Array): [type: string, ending: string] | undefined {
  if (pngStart.every((byte, at) => bytes[at] === byte)) return ['image/png', 'png'];
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    // A declaration and a document type may come before the root. Without its namespace an SVG is not an image.
    const root = /^\s*(?:<\?xml[^>]*>)?\s*(?:<!DOCTYPE[^>[]*>)?\s*<svg\b([^>]*)>/.exec(
      withoutComments(text),
    )?.[1];
    return root?.includes('http://www.w3.org/2000/svg') ? ['image/svg+xml', 'svg'] : undefined;
  } catch {
    return undefined;
  }
}

const withoutComments = (text: string) => text.replace(/<!--[\s\S]*?-->/g, '');
