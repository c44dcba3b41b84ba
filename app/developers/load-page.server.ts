// A page of /developers, as its routes show it.
import type { AppLoadContext } from '@remix-run/node';

const pathOf = (slug: string) => (slug === '' ? '/developers' : `/developers/${slug}`);

/** `slug` is the last part of the path; empty for the start page. Throws 404 `not_found` for one that there is not. */
export async function loadDeveloperPage(slug: string, { backend, hasPage }: AppLoadContext) {
  const { pages, files } = await import('virtual:developers');
  const page = pages.find((each) => each.slug === slug);
  if (!page) return backend.notFound();
  const { title, html, sections } = await page.load();
  const links = pages.map((each) => ({ group: each.group, path: pathOf(each.slug), name: each.name }));
  const api = { group: 'Reference', path: '/developers/api', name: 'API' };
  const isWanted = (name: string) => (slug === '' ? name.endsWith('.zip') : name === page.archive);
  return {
    path: pathOf(slug),
    title,
    html,
    sections,
    menu: hasPage(api.path) ? [...links, api] : links,
    downloads: files
      .filter(({ name }) => isWanted(name))
      .map(({ name, size, sha256 }) => ({ name, size, sha256 })),
  };
}
