// The kit in TypeScript, mounted as the broken clients are: `/kit/login`, `/kit/callback`, `/kit/events` and `/kit/`.
import type { IncomingMessage, ServerResponse } from 'node:http';
import {
  createIdentityClient,
  createMemoryStores,
  type Profile,
} from '../../../clients/typescript/src/index.ts';

type Options = { issuer: string; client: string; secrets: string[]; ttlSeconds: number };

export function createKitClient(origin: string, options: Options) {
  const identity = createIdentityClient({
    ...options,
    callbackUrl: `${origin}/kit/callback`,
    loginUrl: `${origin}/kit/login`,
    homeUrl: `${origin}/kit/`,
    ...createMemoryStores(),
  });
  const people = new Map<string, Profile>();
  const sessions = new Map<string, string>();
  const findPerson = (request: Request) => {
    const [, id = ''] = /\bsession=([\w-]+)/.exec(request.headers.get('cookie') ?? '') ?? [];
    return people.get(sessions.get(id) ?? '');
  };

  async function answer(request: Request): Promise<Response> {
    const { pathname } = new URL(request.url);
    if (pathname === '/kit/login') return identity.startLogin(request, { returnTo: '/kit/' });
    if (pathname === '/kit/events') return identity.receiveNudge(request);
    if (pathname === '/kit/callback')
      return identity.handleCallback(request, {
        isLoggedIn: findPerson,
        endSession() {},
        savePerson: (profile) => people.set(profile.id, profile),
        startSession({ profile }) {
          const id = crypto.randomUUID();
          sessions.set(id, profile.id);
          return { 'Set-Cookie': `session=${id}; Path=/kit; HttpOnly; SameSite=Lax` };
        },
      });
    const person = findPerson(request);
    return new Response(person ? [person.id, person.name, person.email, person.role].join('\n') : 'nobody');
  }

  return async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const { method = 'GET', url = '/', headers } = request;
    const sent = new Request(origin + url, {
      method,
      headers: Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]),
      ...(method === 'POST' && { body: Buffer.concat(chunks) }),
    });
    const { status, headers: given, body } = await answer(sent);
    response.writeHead(status, [...given].flat());
    response.end(body ? await new Response(body).text() : undefined);
  };
}
