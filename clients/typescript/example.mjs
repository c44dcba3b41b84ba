// A shop that lets people log in with the identity service. README.md says how to run it.
import { createServer } from 'node:http';
import { createIdentityClient, createMemoryStores } from 'identity-client';

const { ISSUER = 'http://localhost:3000', IDENTITY_SECRET = '', PORT = 4000 } = process.env;
const origin = `http://localhost:${PORT}`;
const identity = createIdentityClient({
  issuer: ISSUER,
  client: 'shop',
  secrets: IDENTITY_SECRET.split(','),
  callbackUrl: `${origin}/sso/callback`,
  loginUrl: `${origin}/login`,
  log: (entry) => process.stdout.write(`${JSON.stringify(entry)}\n`),
  ...createMemoryStores(),
});
const sessions = new Map();
const findSession = ({ headers }) => sessions.get(/\bshop_session=([\w-]+)/.exec(headers.get('cookie'))?.[1]);
const hooks = {
  startSession({ sid, profile }) {
    const id = crypto.randomUUID();
    sessions.set(id, { sid, profile });
    return { 'Set-Cookie': `shop_session=${id}; Path=/; HttpOnly; SameSite=Lax` };
  },
  endSession(sid) {
    for (const [id, session] of sessions) if (session.sid === sid) sessions.delete(id);
  },
  apply({ profile }, isNewer) {
    for (const kept of sessions.values())
      if (isNewer && kept.profile.id === profile.id) kept.profile = profile;
  },
  startOver: () => sessions.clear(),
};
const pages = {
  '/': (request) => new Response(`Hello, ${findSession(request)?.profile.name ?? 'stranger: open /login'}\n`),
  '/login': (request) => identity.startLogin(request, { returnTo: '/' }),
  '/sso/callback': (request) => identity.handleCallback(request, { ...hooks, isLoggedIn: findSession }),
  '/identity/events': async (request) => {
    const answer = await identity.receiveNudge(request);
    if (answer.ok) identity.pullEvents(hooks).catch((error) => process.stderr.write(`${error}\n`));
    return answer;
  },
};
createServer(async (incoming, outgoing) => {
  const { method, headers } = incoming;
  const address = new URL(incoming.url, origin);
  const sent = { method, headers, ...(method === 'POST' && { body: incoming, duplex: 'half' }) };
  const answer = await (pages[address.pathname] ?? pages['/'])(new Request(address, sent));
  outgoing.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text());
}).listen(PORT, 'localhost');
process.stdout.write(`Open ${origin}\n`);
