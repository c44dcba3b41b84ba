/**
 * Returns undefined if the text is no URL. Use this instead of `URL.canParse`: in Node 20 and 22, that refuses Latin letters
 * such as ü after some thousand calls, once it is optimized.
 */
export function parseUrl(text: string, base?: string | URL): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
