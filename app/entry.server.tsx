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
  // app/pages.ts throws it on. So refusals in a flood do not cost a rendered page each.
  if (thrown) return new Response(null, { status, headers });
  const stream = await renderToReadableStream(<RemixServer context={remixContext} url={request.url} />);
  // A failure can change the answer until any of the page is sent.
  await stream.allReady;
  headers.set('Content-Type', 'text/html; charset=utf-8');
  // As text, because React logs an error if the reader of a stream has gone.
  return new Response(await new Response(stream).text(), { status, headers });
}

/** app/pages.ts throws the error on to the shell, the one place that decides which error text leaves the service. */
export const handleError: HandleErrorFunction = (error, { context }) => {
  context.thrown ??= error;
};
