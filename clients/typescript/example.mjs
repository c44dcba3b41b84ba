// A shop that lets people log in with the identity service. README.md says how to run it.
import { createServer } from 'node:http';
import { createIdentityClient, createMemoryStores } from 'identity-client';

const { IDENTITY_URL, PORT = 4000 } = process.env;
const { ORIGIN = `http://localhost:${PORT}` } = process.env;
const identity = createIdentityClient({
  identityUrl: IDENTITY_URL,
  origin: ORIGIN,
  log: (entry) => process.stdout.write(`${JSON.stringify(entry)}\n`),
  ...createMemoryStores(),
});
const sessions = new Map();
const findSession = ({ headers }) => sessions.get(/\bshop_session=([\w-]+)/.exec(headers.get('cookie'))?.[1]);
const hooks = {
  startSession({ sid, profile }) {
    const id = crypto.randomUUID();
    sessions.set(id, { sid, profile });
    // On https also Secure, and the name __Host-shop_session.
    return { 'Set-Cookie': `shop_session=${id}; Path=/; HttpOnly; SameSite=Lax` };
  },
  endSession(sid) {
    for (const [id, session] of sessions) if (session.sid === sid) sessions.delete(id);
  },
  apply({ type, user_id: userId, profile }, isNewer) {
    for (const [id, session] of sessions) {
      if (session.profile.id !== userId) continue;
      if (type === 'user.deleted') sessions.delete(id);
      else if (isNewer) session.profile = profile;
    }
  },
  startOver: () => sessions.clear(),
};
const say = (error) => process.stderr.write(`${error}\n`);
const pages = {
  '/': (request) => new Response(`Hello, ${findSession(request)?.profile.name ?? 'stranger: open /login'}\n`),
  '/login': (request) => identity.startLogin(request, { returnTo: '/' }),
  '/sso/callback': (request) => identity.handleCallback(request, { ...hooks, isLoggedIn: findSession }),
  '/sso/events': async (request) => {
    const answer = await identity.receiveNudge(request);
    if (answer.ok) identity.pullEvents(hooks).catch(say);
    return answer;
  },
};
const answer = (request) => (pages[new URL(request.url).pathname] ?? pages['/'])(request);
const server = createServer(identity.createListener(answer, say));
server.listen(PORT, 'localhost', () => process.stdout.write(`Open ${ORIGIN}\n`));
