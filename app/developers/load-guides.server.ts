/** A guide of docs/openid.md. Each heading of the third level below *Guides* begins a new guide. */
export type Guide = { title: string; html: string };

/**
 * The guides still contain the example values of docs/openid.md. The page of a client puts the client's own values in their
 * place.
 */
export async function loadOpenIdGuides(): Promise<Guide[]> {
  const { pages } = await import('virtual:developers');
  const page = pages.find(({ slug }) => slug === 'openid');
  const { html = '' } = (await page?.load()) ?? {};
  const [, guides = ''] = /<h2 id="guides">([\s\S]*?)(?=<h2 |$)/.exec(html) ?? [];
  return guides
    .replaceAll('href="#', `href="${page?.path}#`)
    .split(/<h3 [^>]*><a [^>]*>/)
    .slice(1)
    .map((part) => {
      const [title = '', text = ''] = part.split('</a></h3>');
      return { title, html: text };
    });
}
