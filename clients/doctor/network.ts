// Sends the doctor's requests. Each request has a time limit, and only the beginning of a long answer is read.
import { parseUrl } from '../../server/basics/url.ts';
import { version } from '../../server/runtime/version.ts';
import { type Cookie, readSetCookie } from './cookies.ts';
import type { Tools } from './target.ts';

const answerWithinMs = 10_000;
const maxBodyBytes = 256 * 1_024;

export type Sending = {
  method?: string;
  headers?: Record<string, string>;
  body?: string;
  /** If true, the request does not wait for its turn, because it must arrive together with other requests. */
  isAtOnce?: boolean;
};

export type Answer = {
  url: URL;
  status: number;
  headers: Headers;
  /** The absolute URL that a redirect leads to. */
  location: URL | undefined;
  cookies: Cookie[];
  /** The beginning of the body. The rest is not read. */
  text: string;
  /** How many seconds the `Date` header is ahead of our clock. */
  clockOffset: number | undefined;
};

/** The message says in a few words what failed. */
export class UnreachableError extends Error {}

/** The client has answered that there were too many requests. */
export class LimitedError extends UnreachableError {}

export type Network = ReturnType<typeof openNetwork>;

export function openNetwork({ fetch, now, pace }: Tools) {
  const pauseMs = pace === undefined ? 0 : 60_000 / pace;
  let requests = 0;
  let nextAt = 0;

  /** A request that does not wait still takes a turn, so later requests wait longer. */
  async function takeTurn({ isAtOnce }: Sending): Promise<void> {
    const turnAt = Math.max(nextAt, performance.now());
    nextAt = turnAt + pauseMs;
    const waitMs = turnAt - performance.now();
    if (!isAtOnce && waitMs > 0) await new Promise((done) => setTimeout(done, waitMs));
  }

  async function exchange(url: URL, { method = 'GET', headers, body }: Sending): Promise<Answer> {
    const controller = new AbortController();
    const timer = setTimeout(() => controller.abort(), answerWithinMs);
    const sentAt = now().getTime();
    try {
      const response = await fetch(url, {
        method,
        headers: { 'user-agent': `identity-doctor/${version}`, accept: 'text/html', ...headers },
        ...(body !== undefined && { body }),
        redirect: 'manual',
        signal: controller.signal,
      });
      const midway = (sentAt + now().getTime()) / 2;
      return {
        url,
        status: response.status,
        headers: response.headers,
        location: readLocation(response, url),
        cookies: response.headers.getSetCookie().flatMap((text) => readSetCookie(text, url) ?? []),
        text: await readText(response),
        clockOffset: compareClock(response.headers.get('date'), midway),
      };
    } catch (error) {
      throw new UnreachableError(
        controller.signal.aborted
          ? `no answer within ${answerWithinMs / 1_000} seconds`
          : describeFailure(error),
      );
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async send(url: URL, sending: Sending = {}): Promise<Answer> {
      requests += 1;
      await takeTurn(sending);
      return exchange(url, sending);
    },
    countRequests: () => requests,
  };
}

function readLocation({ status, headers }: Response, url: URL): URL | undefined {
  const location = headers.get('location');
  const isRedirect = status >= 300 && status < 400;
  return isRedirect && location !== null ? parseUrl(location, url) : undefined;
}

async function readText(response: Response): Promise<string> {
  const reader = response.body?.getReader();
  if (!reader) return '';
  const decoder = new TextDecoder();
  let text = '';
  for (let bytes = 0; bytes < maxBodyBytes; ) {
    const { done, value } = await reader.read();
    if (done) return text + decoder.decode();
    bytes += value.length;
    text += decoder.decode(value, { stream: true });
  }
  await reader.cancel();
  return text;
}

/** `Date` leaves out the fraction of the second, so half a second is added. */
function compareClock(date: string | null, atMs: number): number | undefined {
  const said = Date.parse(date ?? '');
  // Adding 0 turns -0 into 0.
  return Number.isNaN(said) ? undefined : Math.round((said + 500 - atMs) / 1_000) + 0;
}

function describeFailure(error: unknown): string {
  const { message, cause } = error as { message?: string; cause?: { code?: string; message?: string } };
  return cause?.code ?? cause?.message ?? message ?? 'the connection failed';
}
