import './load-context.ts';
import type { AppLoadContext, EntryContext, HandleErrorFunction } from '@remix-run/node';
import { RemixServer } from '@remix-run/react';
// React has several server renderers. This renderer runs on both Node and Deno.
import { renderToReadableStream } from 'react-dom/server.browser';

export { createPages } from './pages.ts';

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  remixContext: EntryContext,
  { thrown }: AppLoadContext,
): Promise<Response> {
  // The page is not rendered, because app/pages.ts rethrows the error and the shell answers it. So even a flood of refusals is
  // cheap.
  if (thrown) return new Response(null, { status, headers });
  const stream = await renderToReadableStream(<RemixServer context={remixContext} url={request.url} />);
  // Waits for the whole page, because a failure can change the status only before anything has been sent.
  await stream.allReady;
  headers.set('Content-Type', 'text/html; charset=utf-8');
  // The answer is a text and not a stream, because React logs an error if the reader of a stream goes away.
  return new Response(await new Response(stream).text(), { status, headers });
}

/** app/pages.ts rethrows the error to the shell, the only place that decides which error text leaves the service. */
export const handleError: HandleErrorFunction = (error, { context }) => {
  context.thrown ??= error;
};
