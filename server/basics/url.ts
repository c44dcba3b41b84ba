/**
 * Returns undefined if the text is no URL. Use this instead of `URL.canParse`. In Node 20 and 22, `URL.canParse` refuses Latin
 * letters such as ü after some thousand calls, once Node has optimized it.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
