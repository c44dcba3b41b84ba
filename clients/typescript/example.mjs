// A shop that lets people log in with the identity service. README.md says how to run it.
import { createServer } from 'node:http';
import { createIdentityClient, createMemoryStores } from 'identity-client';
import { identityRoutes } from 'identity-client/web';

const { IDENTITY_URL, PORT = 4000 } = process.env;
const { ORIGIN = `http://localhost:${PORT}` } = process.env;
const identity = createIdentityClient({
  identityUrl: IDENTITY_URL,
  origin: ORIGIN,
  log: (entry) => process.stdout.write(`${JSON.stringify(entry)}\n`),
  ...createMemoryStores(),
});
const answerRoute = identityRoutes(identity);
const toHtml = (text) => text.replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);

async function answer(request) {
  const answer = await answerRoute(request);
  if (answer) return answer;
  const person = await identity.requireLogin(request);
  if (person instanceof Response) return person;
  const page = `<p>Hello, ${toHtml(person.name)}</p><form method="post" action="/logout">
    <input type="hidden" name="token" value="${await identity.logoutToken(request)}"><button>Log out</button></form>`;
  const headers = { 'Content-Type': 'text/html; charset=utf-8', 'Cache-Control': 'no-store' };
  return new Response(page, { headers });
}
const server = createServer(identity.createListener(answer, (error) => process.stderr.write(`${error}\n`)));
server.listen(PORT, 'localhost', () => process.stdout.write(`Open ${ORIGIN}\n`));
