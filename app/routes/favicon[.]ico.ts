import favicon from '../favicon.svg?raw';

/** Browsers ask here if a page names no icon, such as a PDF. */
export const loader = () =>
  new Response(favicon, {
    headers: { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' },
  });
