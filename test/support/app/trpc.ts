// The typed client of /trpc, as other programs use it, without a network.
import { createTRPCClient, httpLink, TRPCClientError } from '@trpc/client';
import superjson from 'superjson';
import type { AppRouter } from '../../../server/doors/trpc/router.ts';
import type { TestApp } from './app.ts';

export function openClient(send: TestApp['send'], cookie?: string, headers?: Record<string, string>) {
  return createTRPCClient<AppRouter>({
    links: [
      httpLink({
        url: 'http://localhost:3000/trpc',
        transformer: superjson,
        headers,
        async fetch(url, init) {
          const { method, headers, body } = (init ?? {}) as RequestInit;
          const answer = await send(String(url), {
            method,
            cookie,
            body: body ?? undefined,
            headers: Object.fromEntries(new Headers(headers)),
          });
          return new Response(answer.text, { status: answer.status, headers: answer.headers });
        },
      }),
    ],
  });
}

export async function sessionIdOf(send: TestApp['send'], cookie: string): Promise<string> {
  const sessions = await openClient(send, cookie).sessions.list.query();
  return sessions.find(({ current }) => current)?.id ?? '';
}

/** The `data` of the error that a call is refused with. Throws if the call succeeds. */
export async function refusalOf(
  call: Promise<unknown>,
): Promise<NonNullable<TRPCClientError<AppRouter>['data']>> {
  try {
    await call;
  } catch (error) {
    if (error instanceof TRPCClientError && error.data) return error.data;
    throw error;
  }
  throw new Error('the call was not refused');
}
