// What a browser without script sees in an answer: cookies, text, fields.
import { parse as parseCookie } from 'cookie';
import { demoPassword } from '../../../server/doors/demo/demo-users.ts';
import { type Answer, locationOf, type SendOptions, type TestApp } from './app.ts';

type Send = TestApp['send'];

/**
 * Returns the `name=value` of the one cookie that an answer sets. Cookies of the device and of pending hand-offs do not count.
 */
export function cookieOf({ headers }: Pick<Answer, 'headers'>): string {
  const cookies = headers
    .getSetCookie()
    .filter((cookie) => !/^(__Host-)?identity_(device|pending_)/.test(cookie));
  const [cookie, ...more] = cookies;
  if (!cookie || more.length > 0) throw new Error(`one cookie expected: ${headers.getSetCookie()}`);
  return cookie.split(';')[0] ?? '';
}

/** A browser: it keeps the cookies it gets, and sends them. Redirects are not followed. */
export function openBrowser(send: Send, cookie = '') {
  const jar = new Map(Object.entries(parseCookie(cookie)) as [string, string][]);
  const browser = {
    jar,
    cookie: () => [...jar].map(([name, value]) => `${name}=${value}`).join('; '),
    async send(path: string, options: SendOptions = {}): Promise<Answer> {
      const answer = await send(path, { ...options, cookie: browser.cookie() });
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? [];
        if (/max-age=0\b/i.test(line)) jar.delete(name);
        else jar.set(name, value);
      }
      return answer;
    },
    login: (email: string, password = demoPassword, path = '/login') =>
      browser.send(path, { form: { email, password } }),
    async whoAmI(): Promise<string | undefined> {
      const answer = await browser.send('/sso/profile');
      return answer.status === 200 ? JSON.parse(answer.text).email : undefined;
    },
    whoseId: async (): Promise<string> => JSON.parse((await browser.send('/sso/profile')).text).id,
  };
  return browser;
}

export type Browser = ReturnType<typeof openBrowser>;

export async function logIn(send: Send, email: string, password = demoPassword): Promise<Browser> {
  const browser = openBrowser(send);
  const { status, text } = await browser.login(email, password);
  if (status !== 303) throw new Error(`login of ${email} answered ${status}: ${text.slice(0, 200)}`);
  return browser;
}

export async function isLoggedIn(send: Send, cookie: string): Promise<boolean> {
  return (await send('/sso/profile', { cookie })).status === 200;
}

/** Sends a form of the account's pages, and follows its redirect. */
export async function submitProfile(send: Send, cookie: string, form: Record<string, string>) {
  const path = form.intent === 'names' ? '/profile' : '/profile/security';
  const answer = await send(path, { cookie, form });
  if (answer.status !== 303) return answer;
  const { pathname, search } = locationOf(answer);
  return send(pathname + search, { cookie: answer.headers.has('set-cookie') ? cookieOf(answer) : cookie });
}

/** Returns the text of a page, without its markup. */
export function textOf({ text }: Answer): string {
  const withoutScripts = text.replace(/<(script|head)\b[\s\S]*?<\/\1>|<!--.*?-->/g, '');
  return decode(withoutScripts.replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ');
}

/** Returns an input of a page: its value, whether it is marked as invalid, and the texts that describe it. */
export function fieldOf({ text }: Answer, name: string) {
  const input = [...text.matchAll(/<input [^>]*>/g)]
    .map(([tag]) => attributesOf(tag))
    .find((attributes) => attributes.name === name);
  if (!input) throw new Error(`no field ${name}`);
  const describedBy = input['aria-describedby']?.split(' ') ?? [];
  return {
    value: input.value,
    isInvalid: input['aria-invalid'] === 'true',
    descriptions: describedBy.map((id) => {
      const content = new RegExp(`<p [^>]*id="${id}"[^>]*>([^<]*)<`).exec(text)?.[1];
      return decode(content ?? '');
    }),
  };
}

function attributesOf(tag: string): Record<string, string> {
  return Object.fromEntries(
    [...tag.matchAll(/([\w-]+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, decode(value)]),
  );
}

function decode(html: string): string {
  const characters: Record<string, string> = { lt: '<', gt: '>', quot: '"', '#x27': "'", amp: '&' };
  return html.replace(/&(lt|gt|quot|#x27|amp);/g, (_, name: string) => characters[name] ?? '');
}
