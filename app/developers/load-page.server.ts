import type { AppLoadContext } from '@remix-run/node';

/** `slug` is the last part of the path, and empty for the start page. Throws 404 `not_found` if no page has this slug. */
export async function loadDeveloperPage(slug: string, context: AppLoadContext) {
  const { pages, files } = await import('virtual:developers');
  const page = pages.find((each) => each.slug === slug);
  if (!page) return context.transport.notFound();
  const { title, html, sections } = await page.load();
  const firstHeading = html.search(/<h2|$/);
  const isWanted = (name: string) => (slug === '' ? name.endsWith('.zip') : name === page.archive);
  return {
    path: page.path,
    title,
    /** The text up to the first heading. */
    intro: html.slice(0, firstHeading),
    text: html.slice(firstHeading),
    sections,
    menu: await loadDeveloperMenu(),
    downloads: files
      .filter(({ name }) => isWanted(name))
      .map(({ name, size, sha256 }) => ({ name, size, sha256 })),
  };
}

/** The table of contents: each document, and the reference of the API. */
export async function loadDeveloperMenu() {
  const { pages } = await import('virtual:developers');
  const links = pages.map(({ group, path, name }) => ({ group, path, name }));
  const api = { group: 'Reference', path: '/developers/api', name: 'API' };
  return [...links, api];
}
