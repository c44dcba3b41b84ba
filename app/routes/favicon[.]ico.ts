import favicon from '../favicon.svg?raw';

/** Browsers ask for this icon if a file names no icon of its own, such as a PDF. */
export const loader = () =>
  new Response(favicon, {
    headers: { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' },
  });
