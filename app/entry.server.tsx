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
  // app/pages.ts throws this on, whatever the page: a flood of refusals must not cost a rendered page each.
  if (thrown) return new Response(null, { status, headers });
  const stream = await renderToReadableStream(<RemixServer context={remixContext} url={request.url} />);
  // The whole page before any of it is sent, so that a failure can still change the answer.
  await stream.allReady;
  headers.set('Content-Type', 'text/html; charset=utf-8');
  // As text: React complains of a stream if its reader has gone.
  return new Response(await new Response(stream).text(), { status, headers });
}

/** Keeps the error for app/pages.ts, which throws it on to the shell: one place decides which error text leaves the service. */
export const handleError: HandleErrorFunction = (error, { context }) => {
  context.thrown ??= error;
};
