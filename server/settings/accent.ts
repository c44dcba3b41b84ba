// The accent colour of pages, mails and documents (IDENTITY_ACCENT_COLOR), and the shades of it that can be read (contract 8.88
// and 8.89).
import type { SettingsReader } from './reader.ts';

export type Accent = {
  /** The colour of text on a fill: black or white. */
  ink: string;
  onLight: Shades;
  onDark: Shades;
};

type Shades = {
  /** The background of buttons. */
  fill: string;
  /** The fill below the pointer. */
  hover: string;
  /** The edge of a fill. If the fill stands out from the page, the edge has the same colour. */
  edge: string;
  /** The colour of text, on any background of a page. */
  text: string;
  /** A tinted background for `text`. */
  soft: string;
};

type Colour = readonly [red: number, green: number, blue: number];

const white: Colour = [255, 255, 255];
const black: Colour = [0, 0, 0];

// WCAG 2.2: 1.4.3 for text, 1.4.11 for edges.
const textContrast = 4.5;
const edgeContrast = 3;

type Page = {
  /** The colour that is mixed into the accent colour to make shades. */
  ink: Colour;
  paper: Colour;
  /** The least contrast of text with `paper`. It is more than WCAG asks, because our pages are not pure white or black. */
  contrast: number;
  /** --sunken in app/styles, from which an edge stands out least. */
  sunken: Colour;
  /** --surface in app/styles. */
  surface: Colour;
  /** How many percent of a tinted surface are the accent colour. The rest is `surface`. */
  percent: number;
};
const lightPage: Page = {
  ...{ ink: black, paper: white, contrast: 5.5 },
  ...{ sunken: [0xf1, 0xf3, 0xf5], surface: white, percent: 9 },
};
const darkPage: Page = {
  ...{ ink: white, paper: black, contrast: 9 },
  ...{ sunken: [0x22, 0x26, 0x2b], surface: [0x16, 0x18, 0x1c], percent: 34 },
};

export function readAccent(reader: SettingsReader): Accent | undefined {
  const setting = 'IDENTITY_ACCENT_COLOR';
  const text = reader.text(setting);
  if (!text) return undefined;
  const isColour = /^#[0-9a-f]{6}$/i.test(text);
  reader.faultIf(setting, !isColour, 'must be a colour of the form #rrggbb');
  return isColour ? buildAccent(text) : undefined;
}

export function buildAccent(text: string): Accent {
  const colour = parse(text);
  // The better of black and white has a contrast of 4.58 at least, whatever the colour.
  const ink = contrastOf(colour, white) > contrastOf(colour, black) ? white : black;
  return {
    ink: print(ink),
    onLight: buildShades(colour, ink, lightPage),
    onDark: buildShades(colour, ink, darkPage),
  };
}

function buildShades(colour: Colour, ink: Colour, page: Page): Shades {
  const edge = mixUntil(colour, page.ink, (mixed) => contrastOf(mixed, page.sunken) >= edgeContrast);
  // On a dark page, a dark button would not look like a button, so its fill gets lighter. On a light page, a light fill stays
  // as it is, because it would look like another colour if it were darker.
  const fill = page === darkPage ? edge : colour;
  const hover = mix(fill, ink === white ? black : white, 14);
  const text = mixUntil(colour, page.ink, (mixed) => contrastOf(mixed, page.paper) >= page.contrast);
  const tint = mix(page.surface, fill, page.percent);
  const soft = mixUntil(tint, page.surface, (mixed) => contrastOf(mixed, text) >= textContrast);
  return { fill: print(fill), hover: print(hover), edge: print(edge), text: print(text), soft: print(soft) };
}

/** Returns CSS that sets the accent colours in the pages' stylesheet. */
export const buildStyles = ({ ink, onLight, onDark }: Accent): string => `:root {
  --accent: light-dark(${onLight.fill}, ${onDark.fill});
  --accent-ink: ${ink};
  --accent-hover: light-dark(${onLight.hover}, ${onDark.hover});
  --accent-edge: light-dark(${onLight.edge}, ${onDark.edge});
  --accent-text: light-dark(${onLight.text}, ${onDark.text});
  --accent-soft: light-dark(${onLight.soft}, ${onDark.soft});
}
/* Without these, browsers that do not know light-dark() would show no button. */
@supports not (color: light-dark(red, red)) {
  :root {
    --accent: ${onLight.fill};
    --accent-hover: ${onLight.hover};
    --accent-edge: ${onLight.edge};
  }
}
`;

/** Mixes in `other`, percent by percent, until `isEnough` accepts the mixed colour. */
function mixUntil(colour: Colour, other: Colour, isEnough: (mixed: Colour) => boolean): Colour {
  for (let percent = 0; percent < 100; percent++) {
    const mixed = mix(colour, other, percent);
    if (isEnough(mixed)) return mixed;
  }
  return other;
}

const mix = (colour: Colour, other: Colour, percent: number) =>
  colour.map((part, index) =>
    Math.round(part + (((other[index] ?? 0) - part) * percent) / 100),
  ) as unknown as Colour;

/** Returns the contrast as WCAG defines it, from 1 to 21. */
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

// The accent colour in app/styles.
export const usualAccent = buildAccent('#0e6b56');
