// Texts of 64 KiB on which careless code takes time by the square of their length, or more.

/** The most that fits into a body of 64 KiB beside the rest of a form. */
export const worstBytes = 63 * 1024;

export const fill = (text: string) =>
  text.repeat(Math.ceil(worstBytes / new TextEncoder().encode(text).length));
const han = Array.from({ length: 20_900 }, (_, at) => String.fromCharCode(0x4e00 + at)).join('');

export const worstTexts: Record<string, string> = {
  'a domain of different letters': `a@${han}`,
  'combining marks': `a${fill('\u0315\u0300\u05b0\u0321')}`,
  dots: `a@${fill('a.')}`,
  'at signs': fill('@'),
  'percent escapes': fill('%25%F0'),
  'deep JSON': fill('['),
  'deep JSON to its end': `{"id":${'['.repeat(8_000)}${']'.repeat(8_000)}}`,
  'a long number': fill('9'),
  surrogates: fill('\u{1f468}\u200d'),
};

/** The beginning of a text, at most `room` bytes, without half a character at the end. */
export const fitTo = (text: string, room: number) => {
  const cut = new TextDecoder().decode(new TextEncoder().encode(text).slice(0, room));
  return cut.replace(/\ufffd$/, '');
};

/** Returns the shortest spelling of fields in a body. */
export const spellForm = (fields: Record<string, string>) =>
  Object.entries(fields)
    .map(
      ([name, text]) => `${name}=${/%25%F0/.test(text) ? text : text.replace(/[%&+]/g, encodeURIComponent)}`,
    )
    .join('&');

export const spellAddress = (text: string) =>
  /%25%F0/.test(text) ? text : encodeURI(text).replace(/[[\]&+#]/g, encodeURIComponent);
