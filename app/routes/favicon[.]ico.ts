import favicon from '../favicon.svg?raw';

/** Browsers ask here for pages without a link to it, such as a PDF. */
export const loader = () =>
  new Response(favicon, {
    headers: { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' },
  });
