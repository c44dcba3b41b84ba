// The same requests to our service and to `oidc-provider` 9. What differs is listed, with the sentence that decides it.
import { expect, it } from 'vitest';
import { type Answer, locationOf, openApp } from '../support/app/app.ts';
import { addOpenIdClient, type OpenIdClient } from '../support/openid/client.ts';
import { cases, type Kind, kinds, type Side } from '../support/openid/compared.ts';
import { openReference } from '../support/openid/reference.ts';
import { addPerson, addSession } from '../support/people/staff.ts';
import { shared } from '../support/run/shared.ts';

const app = shared(openApp);
const reference = shared(() =>
  openReference(
    kinds.map((kind) => ({
      ...rowOf(kind),
      secret: 'the-secret-of-a-client-of-the-reference',
      auth: kind === 'public' ? 'none' : 'secret',
      needsChallenge: kind === 'required' || kind === 'public',
    })),
  ),
);

function rowOf(kind: Kind) {
  const origin = `https://wiki-${kind}.example.test`;
  return {
    name: `wiki_${kind.replace('-', '_')}`,
    redirectUris: [`${origin}/callback`, `${origin}/second`, `${origin}/third?a=b`],
    postLogoutUris: [`${origin}/out`],
  };
}

const clientsBy = async (find: (kind: Kind) => OpenIdClient | Promise<OpenIdClient>) =>
  Object.fromEntries(
    await Promise.all(kinds.map(async (kind) => [kind, await find(kind)] as const)),
  ) as Record<Kind, OpenIdClient>;

async function openOurs(): Promise<Side> {
  const clients = await clientsBy((kind) =>
    addOpenIdClient(app, {
      ...rowOf(kind),
      pkce: kind === 'public' ? 'required' : kind,
      auth: kind === 'public' ? 'none' : 'secret',
    }),
  );
  const [person, other] = [await addPerson(app), await addPerson(app)];
  const logIn = async (who?: string) => (await addSession(app, (who ? other : person).id)).cookie;
  return { issuer: app.config.issuer, clients, send: app.send, logIn };
}

async function openTheirs(): Promise<Side> {
  const clients = await clientsBy((kind) => ({
    name: rowOf(kind).name,
    secret: 'the-secret-of-a-client-of-the-reference',
    redirectUri: rowOf(kind).redirectUris[0] ?? '',
  }));
  return {
    issuer: reference.issuer,
    clients,
    logIn: (who) => reference.logIn(who ?? 'the person'),
    async send(path, options) {
      const answer = await reference.send(path, options);
      // A page that sends itself: a browser with script goes on.
      const [, action] = /<form method="post" action="([^"]+confirm)"/.exec(answer.text) ?? [];
      const xsrf = /name="xsrf" value="([^"]+)"/.exec(answer.text)?.[1];
      if (!action || !xsrf || !answer.text.includes('name="logout"')) return answer;
      const cookie = answer.headers
        .getSetCookie()
        .map((each) => each.split(';')[0])
        .join('; ');
      return reference.send(action, { form: { xsrf, logout: 'yes' }, cookie });
    },
  };
}

/** What a client, or the person, learns from the answer. */
function outcomeOf({ issuer }: Side, answer: Answer): string {
  const { status, headers, text } = answer;
  if (status >= 300 && status < 400) {
    const to = new URL(headers.get('location') ?? '', issuer);
    if (to.origin === new URL(issuer).origin) return to.pathname.startsWith('/oauth/logout') ? '2xx' : 'asks';
    if (!to.hostname.startsWith('wiki-')) return `sent to ${to.origin}`;
    return `sent back with ${readBack(to.hash ? new URLSearchParams(to.hash.slice(1)) : to.searchParams)}`;
  }
  const kind = `${Math.floor(status / 100)}xx`;
  if (/<form[^>]+action="https:\/\/wiki-/.test(text)) {
    const inputs = [...text.matchAll(/<input[^>]+name="(\w+)"[^>]+value="([^"]*)"/g)];
    return `form with ${readBack(new URLSearchParams(inputs.map(([, name = '', value = '']) => [name, value])))}`;
  }
  const inHeader = /error="?(\w+)/.exec(headers.get('www-authenticate') ?? '')?.[1];
  const inBody =
    headers.get('content-type')?.includes('json') && status >= 400 ? JSON.parse(text).error : undefined;
  return [kind, inBody ?? inHeader].filter(Boolean).join(' ');
}

const readBack = (query: URLSearchParams) => query.get('error') ?? (query.has('code') ? 'a code' : 'nothing');

it('tmp', async () => {
  const theirs = await openTheirs();
  const out: string[] = [];
  for (const each of cases) {
    let line: string;
    try {
      line = outcomeOf(theirs, await each.run(theirs));
    } catch (e) {
      line = `THROWS ${e}`;
    }
    out.push(`${each.name} => ${line}`);
  }
  (await import('node:fs')).writeFileSync('/tmp/t/theirs.txt', out.join('\n'));
  void openOurs;
  void locationOf;
  void expect;
});
