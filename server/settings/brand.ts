// The logos and the accent colour of the operator. Each file is read once, and served under a name that contains its digest.
import { readSmallFile } from '../runtime/files.ts';
import { shortDigest } from '../runtime/hash.ts';
import { type Accent, readAccent } from './accent.ts';
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

export type Brand = {
  accent: Accent | undefined;
  logoPath: string | undefined;
  stylesPath: string | undefined;
};

export function readBrand(reader: SettingsReader, files: BrandFiles): Brand {
  const accent = readAccent(reader);
  return {
    accent,
    logoPath: readLogo(reader, files, 'IDENTITY_LOGO_FILE'),
    stylesPath: accent && files.add(new TextEncoder().encode(buildStyles(accent)), 'text/css', 'css'),
  };
}

const buildStyles = ({ light, dark, textLight, textDark }: Accent) => `:root {
  --accent: light-dark(${light}, ${dark});
  --accent-ink: #ffffff;
  --accent-text: light-dark(${textLight}, ${textDark});
}
`;

const maxKibibytes = 64;

/** The path that the logo is served at. Undefined if the setting is missing or wrong. */
export function readLogo(reader: SettingsReader, files: BrandFiles, setting: string): string | undefined {
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
