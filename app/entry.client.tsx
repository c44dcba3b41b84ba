import { RemixBrowser } from '@remix-run/react';
import { StrictMode, startTransition } from 'react';
import { hydrateRoot } from 'react-dom/client';

// RemixBrowser suspends until it has decoded the data of the page. A key or a click at that moment makes React hydrate at once,
// which fails (error 345), and from then on React keeps every key and click from all scripts. So this decodes the data before
// it hydrates.
async function decodeData() {
  try {
    RemixBrowser({});
  } catch (decoding) {
    await decoding;
  }
}

void decodeData().then(() =>
  startTransition(() => {
    hydrateRoot(
      document,
      <StrictMode>
        <RemixBrowser />
      </StrictMode>,
    );
  }),
);
