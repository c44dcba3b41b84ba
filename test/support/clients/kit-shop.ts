// A shop on the kit for TypeScript with a made-up identity service. It has browsers, events and a clock that a test sets.
import {
  type CallbackOptions,
  createIdentityClient,
  createMemoryStores,
  type EventHooks,
  type LogEntry,
  type Profile,
  type Stores,
} from '../../../clients/typescript/src/index.ts';
import { fakeIdentity } from '../../../clients/typescript/src/testing.ts';
import { identityRoutes } from '../../../clients/typescript/src/web.ts';

export const profileOf = (): Profile => ({
  id: '0190f5a0-0000-7000-8000-000000000001',
  email: 'zoe@example.test',
  name: 'Zoë O’Neil',
  role: 'customer',
  account: { capabilities: [] },
  profile_updated_at: '2026-01-01T00:00:00.000Z',
});

export function openShop({
  stores: given,
  ...further
}: {
  origin?: string;
  maxSeconds?: number;
  hooks?: CallbackOptions & EventHooks;
  stores?: Required<Stores>;
} = {}) {
  let nowMs = Date.parse('2026-06-01T00:00:00.000Z');
  const now = () => new Date(nowMs);
  const stores = given ?? createMemoryStores({ now });
  const ids: string[] = [];
  const { add } = stores.sessions;
  stores.sessions.add = (session, at) => {
    ids.push(session.id);
    return add(session, at);
  };
  const logged: LogEntry[] = [];
  const events: object[] = [];
  /** The first answers of the service. After these it answers with the events. */
  const answers: (() => Promise<Response> | Response)[] = [];
  let asked = 0;
  const answerEvents: typeof fetch = async (url) => {
    asked += 1;
    const made = answers.shift();
    if (made) return made();
    const after = Number(new URL(String(url)).searchParams.get('after'));
    const numbered = events.map((event, at) => ({ seq: at + 1, ...event }));
    return Response.json({ events: numbered.filter(({ seq }) => seq > after), latest: events.length });
  };
  const { origin = 'https://shop.example.test' } = further;
  const configuration = {
    issuer: 'https://id.example.test',
    client: 'shop',
    secrets: ['a-secret-of-the-shop-for-this-test'],
    ...further,
    origin,
    now,
    fetch: answerEvents,
    log: (entry: LogEntry) => logged.push(entry),
  };
  const identity = createIdentityClient({ ...configuration, ...stores });
  const fake = fakeIdentity(configuration);
  const answerRoute = identityRoutes(identity);

  function openBrowser(cookies = new Map<string, string>()) {
    const request = (path: string, init: RequestInit = {}) =>
      new Request(new URL(path, origin), {
        ...init,
        headers: { ...init.headers, cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      });

    function keepCookies(answer: Response): Response {
      for (const line of answer.headers.getSetCookie()) {
        const [, name = '', value = '', more = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? [];
        if (more.includes('Max-Age=0')) cookies.delete(name);
        else cookies.set(name, value);
      }
      return answer;
    }

    const open = async (path: string, init: RequestInit = {}) =>
      keepCookies((await answerRoute(request(path, init))) ?? new Response('not found', { status: 404 }));
    const start = async (path = '/login') => (await open(path)).headers.get('location') ?? '';
    return {
      cookies,
      request,
      open,
      keepCookies,
      /** Starts a login, and returns the URL of its launch. */
      start,
      logIn: async (changes: Parameters<typeof fake.handOff>[1] = {}) =>
        open(await fake.handOff(await start(), changes)),
      person: () => identity.currentPerson(request('/')),
    };
  }

  return {
    origin,
    configuration,
    stores,
    identity,
    fake,
    logged,
    events,
    answers,
    openBrowser,
    now: () => Math.floor(nowMs / 1_000),
    pass(seconds: number) {
      nowMs += seconds * 1_000;
    },
    /** How often the service was asked for events. */
    countAsked: () => asked,
    /** How many of all sessions that were started are still in the store. */
    countSessions: async () =>
      (await Promise.all(ids.map((id) => stores.sessions.find(id)))).filter((found) => found).length,
  };
}
