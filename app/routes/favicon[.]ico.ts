import favicon from '../favicon.svg?raw';

/** Browsers ask for this icon if what they show names none, as a PDF does. */
export const loader = () =>
  new Response(favicon, {
    headers: { 'Content-Type': 'image/svg+xml', 'Cache-Control': 'public, max-age=86400' },
  });
