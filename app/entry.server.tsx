import './load-context.ts';
import type { AppLoadContext, EntryContext, HandleErrorFunction } from '@remix-run/node';
import { RemixServer } from '@remix-run/react';
// Of React's server renderers the one that both Node and Deno have.
import { renderToReadableStream } from 'react-dom/server.browser';
import { NonceContext } from './components/nonce.ts';

export { createPages } from './pages.ts';

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  remixContext: EntryContext,
  { visit }: AppLoadContext,
): Promise<Response> {
  const stream = await renderToReadableStream(
    <NonceContext.Provider value={visit.cspNonce}>
      <RemixServer context={remixContext} url={request.url} nonce={visit.cspNonce} />
    </NonceContext.Provider>,
    { nonce: visit.cspNonce },
  );
  // Nothing here is deferred; whole pages let a failure become an answer of its own.
  await stream.allReady;
  headers.set('Content-Type', 'text/html; charset=utf-8');
  if (!headers.has('Cache-Control')) headers.set('Cache-Control', 'no-store');
  return new Response(stream, { status, headers });
}

/** The shell logs and answers it: one place decides what error text leaves the building. */
export const handleError: HandleErrorFunction = (error, { context }) => {
  context.thrown ??= error;
};
