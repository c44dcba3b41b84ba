// One of the doctor's browsers. It has its own cookies, and does not follow redirects.
import { type Cookie, isSameCookie, isSentTo } from './cookies.ts';
import type { Answer, Network, Sending } from './network.ts';

export type Browser = ReturnType<typeof openBrowser>;

export function openBrowser(network: Network, kept: readonly Cookie[] = []) {
  let jar = [...kept];

  function keep(cookie: Cookie): void {
    jar = jar.filter((other) => !isSameCookie(other, cookie));
    if (!cookie.isGone) jar.push(cookie);
  }

  return {
    async open(url: URL, sending: Sending = {}): Promise<Answer> {
      const cookie = jar
        .filter((each) => isSentTo(each, url))
        .sort((a, b) => b.path.length - a.path.length)
        .map(({ name, value }) => `${name}=${value}`)
        .join('; ');
      const headers = { ...(cookie && { cookie }), ...sending.headers };
      const answer = await network.send(url, { ...sending, headers });
      for (const each of answer.cookies) keep(each);
      return answer;
    },
    keep,
    /** Returns another browser with this browser's cookies. `change` may change cookies, or leave them out. */
    copy: (change: (cookie: Cookie) => Cookie[] = (cookie) => [cookie]) =>
      openBrowser(network, jar.flatMap(change)),
    valueOf: (name: string) => jar.find((cookie) => cookie.name === name)?.value,
  };
}
