/** Nothing here is for search engines: each page is for one person, or for engineers of clients. */
export const loader = () =>
  new Response('User-agent: *\nDisallow: /\n', {
    headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'public, max-age=86400' },
  });
