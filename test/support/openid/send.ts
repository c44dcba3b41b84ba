// Requests to an instance that runs as a process of its own.
import type { TestApp } from '../app/app.ts';

/** `base` is the URL of the service as the browser knows it. Throws if no answer comes. */
export function buildSend(port: number, base: string): TestApp['send'] {
  return async (path, { method, headers: given, form, json, body, cookie } = {}) => {
    const headers = new Headers(given);
    const content =
      body ?? (form && new URLSearchParams(form)) ?? (json === undefined ? undefined : JSON.stringify(json));
    if (json !== undefined) headers.set('content-type', 'application/json');
    if (!headers.has('origin') && !headers.has('sec-fetch-site')) headers.set('origin', base);
    if (cookie) headers.set('cookie', cookie);
    const response = await fetch(`http://localhost:${port}${path}`, {
      method: method ?? (content === undefined ? 'GET' : 'POST'),
      headers,
      ...(content !== undefined && { body: content }),
      redirect: 'manual',
      signal: AbortSignal.timeout(15_000),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
}
