import './load-context.ts';
import type { AppLoadContext, EntryContext, HandleErrorFunction } from '@remix-run/node';
import { RemixServer } from '@remix-run/react';
// React has several server renderers. This one runs on both Node and Deno.
import { renderToReadableStream } from 'react-dom/server.browser';

export { createPages } from './pages.ts';

export default async function handleRequest(
  request: Request,
  status: number,
  headers: Headers,
  remixContext: EntryContext,
  { thrown }: AppLoadContext,
): Promise<Response> {
  // app/pages.ts rethrows the error, so no page is rendered here. This keeps a flood of refusals cheap.
  if (thrown) return new Response(null, { status, headers });
  const stream = await renderToReadableStream(<RemixServer context={remixContext} url={request.url} />);
  // Waits for the whole page. A failure can change the status of the answer only while nothing has been sent.
  await stream.allReady;
  headers.set('Content-Type', 'text/html; charset=utf-8');
  // React logs an error if the reader of a stream goes away, so the answer is a text and no stream.
  return new Response(await new Response(stream).text(), { status, headers });
}

/** app/pages.ts rethrows the error to the shell, the only place that decides which error text leaves the service. */
export const handleError: HandleErrorFunction = (error, { context }) => {
  context.thrown ??= error;
};
