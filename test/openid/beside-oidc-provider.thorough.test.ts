// Sends the same requests to our service and to `oidc-provider` 9. Each difference is listed, with the sentence that decides
// which answer is right.
import { expect, it } from 'vitest';
import { type Answer, openApp } from '../support/app/app.ts';
import { addOpenIdClient, type OpenIdClient } from '../support/openid/client.ts';
import { type Case, cases, type Kind, kinds, type Side } from '../support/openid/compared.ts';
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
      // This page sends its own form, so a browser with script goes on.
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

/** Returns what a client, or the person, learns from the answer. */
function outcomeOf({ issuer }: Side, answer: Answer): string {
  const { status, headers, text } = answer;
  if (status >= 300 && status < 400) {
    const to = new URL(headers.get('location') ?? '', issuer);
    // Our page that asks whether to log out, or that says that nobody is logged in any more.
    if (to.pathname === '/logout' || to.searchParams.has('logged_out')) return '2xx';
    // The page of the reference that says that nobody is logged in any more.
    if (to.pathname === '/oauth/logout/success') return '2xx';
    if (to.origin === new URL(issuer).origin) return 'asks';
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

type Difference = {
  /** The names of the cases. */
  cases: RegExp;
  ours: string;
  theirs: string;
  /**
   * The sentence that decides which answer is right. “Our rule” means that no specification decides, or that the specification
   * leaves the choice to us.
   */
  because: string;
};

const back = (error: string) => `sent back with ${error}`;
const code = back('a code');
const [invalidRequest, invalidScope] = [back('invalid_request'), back('invalid_scope')];

const differences: Difference[] = [
  {
    cases: /^authorize: (state|nonce|response_mode|prompt|max_age|login_hint|ui_locales) empty$/,
    ours: invalidRequest,
    theirs: code,
    because:
      'Our rule 14.23, so that a product whose code has lost a value learns it. RFC 6749 section 3.1: “Parameters sent without a value MUST be treated as if they were omitted from the request.”',
  },
  {
    cases: /^authorize: (display|acr_values) sent twice/,
    ours: code,
    theirs: invalidRequest,
    because:
      'Our rule 14.23 ignores them. RFC 6749 section 3.1: “MUST ignore unrecognized request parameters”.',
  },
  {
    cases:
      /^authorize: (scope (missing|in upper case|with a letter more)|scope missing, by POST|scope="(profile|OpenID|openid,profile)")$/,
    ours: invalidScope,
    theirs: invalidRequest,
    because:
      'Our rule 14.25. OpenID Connect Core section 3.1.2.1: “If the openid scope value is not present, the behavior is entirely unspecified.”',
  },
  {
    cases: /^authorize: scope( with a space before it|="openid (| profile|\\"profile\\")")$/,
    ours: code,
    theirs: invalidScope,
    because:
      'Our rule 14.25. OpenID Connect Core section 3.1.2.1: “Scope values used that are not understood by an implementation SHOULD be ignored.” The answer says which were granted.',
  },
  {
    cases: /^authorize: (state|nonce)( with a control character|=".*\\[nt].*")$/,
    ours: invalidRequest,
    theirs: code,
    because: 'RFC 6749 appendix A.5: “state = 1*VSCHAR”. Our rule 14.26 says it for nonce, too.',
  },
  {
    cases: /^authorize: code_challenge( with a letter more|="(\.zf3.*|a{44})"|=a+… \(128\))$/,
    ours: invalidRequest,
    theirs: code,
    because:
      'RFC 7636 section 4.2: “code_challenge = BASE64URL-ENCODE(SHA256(ASCII(code_verifier)))”, which always has 43 characters.',
  },
  {
    cases:
      /^authorize: response_mode( (with .*|in upper case)|="(web_message|jwt|query\.jwt|unknown|Query)")$/,
    ours: invalidRequest,
    theirs: back('unsupported_response_mode'),
    because:
      'Our rule 14.24. RFC 6749 section 4.1.2.1 and OpenID Connect Core section 3.1.2.6 do not have that error.',
  },
  {
    cases: /^authorize: response_mode="fragment"$/,
    ours: invalidRequest,
    theirs: code,
    because:
      'Our rule 14.24. OAuth 2.0 Multiple Response Type Encoding Practices section 2.1 lets each service choose its modes; discovery lists ours.',
  },
  {
    cases: /^authorize: response_type="code code"$/,
    ours: back('unsupported_response_type'),
    theirs: code,
    because:
      'RFC 6749 section 3.1.1: the value “MUST be one of "code" …”, or a registered extension. This is none.',
  },
  {
    cases: /^authorize: (nobody, prompt=select_account|prompt="(consent )?select_account")$/,
    ours: 'asks',
    theirs: invalidRequest,
    because:
      'OpenID Connect Core section 3.1.2.1: “select_account: The Authorization Server SHOULD prompt the End-User to select a user account.”',
  },
  {
    cases: /^authorize: prompt="none none"$/,
    ours: invalidRequest,
    theirs: code,
    because:
      'OpenID Connect Core section 3.1.2.1: “If this parameter contains none with any other value, an error is returned.”',
  },
  {
    cases: /^authorize: max_age(="(1e3|0x10|\+1| 1|9{11})"| with a space before it)$/,
    ours: invalidRequest,
    theirs: code,
    because: 'Our rule 14.28: a whole number of up to ten digits.',
  },
  {
    cases: /^authorize: optional, without (state, )?nonce, code_challenge$/,
    ours: invalidRequest,
    theirs: code,
    because:
      'Our rule 14.32. RFC 9700 section 2.1.1: “Clients MUST prevent authorization code injection attacks”, by PKCE or by a nonce.',
  },
  {
    cases: /^authorize: state-only, without state/,
    ours: invalidRequest,
    theirs: code,
    because: 'Our rule 14.32. RFC 9700 section 2.1: “Clients MUST prevent Cross-Site Request Forgery”.',
  },
  {
    cases: /^authorize: a hint somebody else’s$/,
    ours: back('login_required'),
    theirs: 'asks',
    because:
      'OpenID Connect Core section 3.1.2.1: “otherwise, it SHOULD return an error, such as login_required.” Nobody loses the login that they have.',
  },
  {
    cases: /^token: (code_verifier with a (space before it|control character)|a verifier (of|with))/,
    ours: '4xx invalid_grant',
    theirs: '4xx invalid_request',
    because:
      'RFC 7636 section 4.6: “If the values are not equal, an error response indicating "invalid_grant" … MUST be returned.”',
  },
  {
    cases:
      /^token: (client_id (missing|empty), of a client without secret|the secret in the form, client_id (missing|empty)|no secret|nothing|a client_assertion)$/,
    ours: '4xx invalid_client',
    theirs: '4xx invalid_request',
    because:
      'RFC 6749 section 5.2: invalid_client is for “unknown client, no client authentication included, or unsupported authentication method”.',
  },
  {
    cases:
      /^token: (an empty secret by Basic|Basic (without a colon|that is not base64|with a wrong percent|of base64url)|Bearer)$/,
    ours: '4xx invalid_client',
    theirs: '4xx invalid_request',
    because:
      'RFC 6749 section 5.2: “If the client attempted to authenticate via the "Authorization" request header field, the authorization server MUST respond with an HTTP 401”.',
  },
  {
    cases: /^token: (a secret of a client without one|Basic of a client without a secret)$/,
    ours: '2xx',
    theirs: '4xx invalid_client',
    because:
      'Our rule 14.41: some products always send the field. A secret proves nothing for a client that has none (RFC 6749 section 2.1).',
  },
  {
    cases: /^userinfo: the token in the form$/,
    ours: '4xx invalid_token',
    theirs: '2xx',
    because: 'RFC 6750 section 2.2: “Resource servers MAY support this method.” Ours does not (rule 14.56).',
  },
  {
    cases: /^userinfo: the token in the (query|form) and in the header$/,
    ours: '2xx',
    theirs: '4xx invalid_request',
    because:
      'RFC 6750 section 2: “Clients MUST NOT use more than one method”, which asks nothing of us. Ours reads the header alone (rule 14.56).',
  },
  {
    cases:
      /^userinfo: (the token in the query|an empty token|two tokens|the token by Basic|the token without a word)$/,
    ours: '4xx invalid_token',
    theirs: '4xx invalid_request',
    because:
      'Our rule 14.57: what is no bearer token in the header is no token, which is 401 (RFC 6750 section 3.1).',
  },
  {
    cases: /^logout: a hint((,| and) a way back| with a space after it)/,
    ours: back('nothing'),
    theirs: '2xx',
    because:
      'OpenID Connect RP-Initiated Logout section 2: the OP “MUST ask” only if the hint is missing or “does not belong to the current OP session”. Rule 14.61 does not ask otherwise.',
  },
  {
    cases: /^logout: (a way back alone|(id_token_hint|post_logout_redirect_uri|state|client_id) empty)$/,
    ours: '4xx',
    theirs: '2xx',
    because: 'Our rules 14.60 and 14.63: the person sees that the product sent something wrong.',
  },
];

type Found = { name: string; ours: string; theirs: string };

const run = async (side: Side, one: Case) => outcomeOf(side, await one.run(side));

it('answers as oidc-provider does, except for what is listed', async () => {
  const [ours, theirs] = [await openOurs(), await openTheirs()];
  const found: Found[] = [];
  for (const one of cases) {
    const answers = { ours: await run(ours, one), theirs: await run(theirs, one) };
    expect(answers.ours, one.name).not.toMatch(/^(5xx|sent to)/);
    if (answers.ours !== answers.theirs) found.push({ name: one.name, ...answers });
  }
  const explains = (each: Difference, one: Found) =>
    each.cases.test(one.name) && each.ours === one.ours && each.theirs === one.theirs;
  expect(found.filter((one) => !differences.some((each) => explains(each, one)))).toEqual([]);
  const needed = (each: Difference) => found.some((one) => explains(each, one));
  expect(differences.filter((each) => !needed(each)).map(({ cases: { source } }) => source)).toEqual([]);
});

it('is asked more than 300 different requests', () => {
  expect(new Set(cases.map(({ name }) => name)).size).toBe(cases.length);
  expect(cases.length).toBeGreaterThan(300);
});
