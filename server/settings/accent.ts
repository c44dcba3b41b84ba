// The accent colour of pages and mails (IDENTITY_ACCENT_COLOR), and the shades of it that keep text readable.
import type { SettingsReader } from './reader.ts';

export type Accent = {
  /** The colour behind white text. */
  light: string;
  dark: string;
  /** The colour of text, on any background of a page. */
  textLight: string;
  textDark: string;
};

type Colour = readonly [red: number, green: number, blue: number];

const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];
// The lightest button background in dark mode: --raised in app/styles.
const darkGround: Colour = [0x1d, 0x20, 0x25];

// WCAG 2.2: 1.4.3 for text, 1.4.11 for the edge of a button.
const textContrast = 4.5;
const edgeContrast = 3;
// The least contrast of text with pure white and black. It is set higher than WCAG asks, because our pages are not pure white
// or black.
const textOnLight = 5.5;
const textOnDark = 9;

export function readAccent(reader: SettingsReader): Accent | undefined {
  const setting = 'IDENTITY_ACCENT_COLOR';
  const text = reader.text(setting);
  if (!text) return undefined;
  const isColour = /^#[0-9a-f]{6}$/i.test(text);
  reader.faultIf(setting, !isColour, 'must be a colour of the form #rrggbb');
  reader.faultIf(
    setting,
    isColour && contrastOf(parse(text), white) < textContrast,
    `must be darker: white text on it needs a contrast of ${textContrast} to 1`,
  );
  return isColour ? buildAccent(text) : undefined;
}

/** The colour must be dark enough for white text. */
export function buildAccent(colour: string): Accent {
  const accent = parse(colour);
  return {
    light: print(accent),
    dark: print(mixUntil(accent, white, (mixed) => contrastOf(mixed, darkGround) >= edgeContrast)),
    textLight: print(mixUntil(accent, black, (mixed) => contrastOf(mixed, white) >= textOnLight)),
    textDark: print(mixUntil(accent, white, (mixed) => contrastOf(mixed, black) >= textOnDark)),
  };
}

/** Mixes in `other`, percent by percent, until `isEnough` accepts the mixed colour. */
function mixUntil(colour: Colour, other: Colour, isEnough: (mixed: Colour) => boolean): Colour {
  for (let percent = 0; percent < 100; percent++) {
    const mixed = colour.map((part, index) =>
      Math.round(part + (((other[index] ?? 0) - part) * percent) / 100),
    ) as unknown as Colour;
    if (isEnough(mixed)) return mixed;
  }
  return other;
}

/** The contrast as WCAG defines it, from 1 to 21. */
export function contrastOf(one: Colour, other: Colour): number {
  const [lighter = 0, darker = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => b - a);
  return (lighter + 0.05) / (darker + 0.05);
}

function luminanceOf(colour: Colour): number {
  const [red = 0, green = 0, blue = 0] = colour.map((part) => {
    const share = part / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

export const parse = (text: string): Colour => {
  const part = (at: number) => Number.parseInt(text.slice(at, at + 2), 16);
  return [part(1), part(3), part(5)];
};

const print = (colour: Colour) => `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
