// Shows how to connect a product of the kind `openid` (contract 14.74 and 14.90 to 14.92). The text of the guides comes from
// docs/openid.md. The page has the client's secret only right after the secret was made.

import type { UntakenLogOut } from '../../../db/tables/log-outs.ts';
import copyScript from '../../developers/copy.js?url';
import type { Guide } from '../../developers/load-guides.server.ts';
import { Badge } from '../badge.tsx';
import { Disclosure } from '../disclosure.tsx';
import { Fact } from '../fact.tsx';
import { Instant } from '../instant.tsx';
import { Notice } from '../notice.tsx';
import { Section } from '../section.tsx';
import { Block } from './client-guide.tsx';
import type { Row } from './client-words.ts';
import { Name } from './words.tsx';

type Values = {
  client: { name: string; callbackUrl: string };
  baseUrl: string;
  secret?: string | undefined;
};

/** A row of the kind `openid`. */
type OpenIdRow = Pick<
  Row,
  'redirectUris' | 'postLogoutUris' | 'backChannelUri' | 'pkce' | 'auth' | 'challengeAt'
>;

/** Returns whether no character of the origin has a special meaning in a shell, in HTML or in a file of settings. */
const isPlain = (origin: string) => /^https?:\/\/[a-z0-9.:-]+$/.test(origin);

/**
 * Puts the client's values in place of the examples. The name and the secret need no check, because they cannot contain special
 * characters (contract 13.7 and 13.20).
 */
export function fillIn(html: string, { client, baseUrl, secret }: Values): string {
  const { origin } = new URL(client.callbackUrl);
  return html
    .replaceAll(/https:\/\/(id|\w+)\.example\.com/g, (example, host) => {
      const ours = host === 'id' ? baseUrl : origin;
      return isPlain(ours) ? ours : example;
    })
    .replaceAll(/\bCLIENT_ID\b/g, client.name)
    .replaceAll(/\bSECRET\b/g, secret ?? 'SECRET');
}

export const OpenIdSecret = ({ title, secret, row }: { title: string; secret: string; row: OpenIdRow }) => (
  <Notice kind="success" focus>
    <p>
      <strong>{title}</strong>{' '}
      {row.auth === 'none'
        ? 'The product needs no secret.'
        : 'Its secret is shown only now: put it into the product before you leave this page.'}
    </p>
    {row.auth !== 'none' && <Block label="Secret" text={secret} />}
  </Notice>
);

const addresses = {
  Discovery: '/.well-known/openid-configuration',
  Authorization: '/oauth/authorize',
  Token: '/oauth/token',
  'User info': '/oauth/userinfo',
  'Log-out': '/oauth/logout',
  'Keys (JWKS)': '/oauth/jwks',
};

export function OpenIdGuide({ guides, row, ...values }: Values & { guides: Guide[]; row: OpenIdRow }) {
  const { client, baseUrl, secret } = values;
  return (
    <>
      {row.pkce === 'state-only' && <ChallengeNotice challengeAt={row.challengeAt ?? null} />}
      <dl className="facts">
        <Fact name="Issuer">
          <code>{baseUrl}</code>
        </Fact>
        <Fact name="Client id">
          <code>{client.name}</code>
        </Fact>
        {Object.entries(addresses).map(([what, path]) => (
          <Fact key={what} name={what}>
            <code>{baseUrl + path}</code>
          </Fact>
        ))}
      </dl>
      <p>
        Each guide has your issuer, client id and origin. Compare its paths with the addresses under{' '}
        <a href="#facts">What is set</a>.
        {row.auth !== 'none' && !secret && (
          <>
            {' '}
            Put the secret in place of <code>SECRET</code>. If nobody has the secret, make a second one.
          </>
        )}{' '}
        For Outline, Forgejo, Gitea and Zammad, see{' '}
        <a href="/developers/openid#other-products">what we know of other products</a>. For WordPress,{' '}
        <a href="/developers/wordpress">our plugin</a> is the better way.
      </p>
      <div className="acts">
        {guides.map(({ title, html }) => (
          <Disclosure key={title} label={title} name="guide">
            <div
              className="guide"
              // biome-ignore lint/security/noDangerouslySetInnerHtml: our own document, with values that are plain text
              dangerouslySetInnerHTML={{ __html: fillIn(html, values) }}
            />
          </Disclosure>
        ))}
      </div>
      <script type="module" src={copyScript} />
    </>
  );
}

const ChallengeNotice = ({ challengeAt }: { challengeAt: Date | null }) => (
  <Notice kind="warning">
    {challengeAt ? (
      <p>
        The product has sent a challenge since <Instant at={challengeAt} />. Change <em>PKCE</em> to{' '}
        <code>required</code>, so that nobody can log in without one.
      </p>
    ) : (
      <p>
        The product sends no challenge. So a code that is stolen on its way to the product can be used in
        another browser. Look for a setting named PKCE in the product, and for updates.
      </p>
    )}
  </Notice>
);

const pkceWords: Record<string, string> = {
  required: 'Required',
  optional: 'Optional, if there is a nonce',
  'state-only': 'Not needed, because the product cannot send a challenge',
};

/** Settings that only clients of the kind `openid` have. */
export const OpenIdFacts = ({ row }: { row: OpenIdRow }) => (
  <>
    <Fact name="Redirect URIs">{listAddresses(row.redirectUris)}</Fact>
    <Fact name="Addresses after a log-out">{listAddresses(row.postLogoutUris)}</Fact>
    <Fact name="Back-channel logout URI">
      {listAddresses(row.backChannelUri ? [row.backChannelUri] : [])}
    </Fact>
    <Fact name="PKCE">{pkceWords[row.pkce ?? '']}</Fact>
    <Fact name="Authentication">{row.auth === 'none' ? 'None, so PKCE is required' : 'By its secret'}</Fact>
  </>
);

const listAddresses = (addresses: string[] | null | undefined) =>
  addresses?.length
    ? addresses.map((address) => (
        <div key={address}>
          <Name>{address}</Name>
        </div>
      ))
    : 'None';

const whoWords = { session: 'The end of one login', person: 'The end of all logins of a person' };

export const UntakenLogOuts = ({ untaken }: { untaken: UntakenLogOut[] }) => (
  <Section
    id="untaken"
    title="Log-outs that the product has not accepted"
    intro="The person may still be logged in there. We try each again for seven days, at least once an hour."
  >
    <ul className="rows">
      {untaken.map(({ at, reason, who, isWaiting }, n) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: two may have one time and one reason
        <li key={n}>
          <span>
            {whoWords[who]}, <Instant at={at} />: <Name>{reason}</Name>
          </span>
          <Badge meaning={isWaiting ? 'waiting' : 'needs-you'}>{isWaiting ? 'Trying' : 'Given up'}</Badge>
        </li>
      ))}
    </ul>
  </Section>
);
