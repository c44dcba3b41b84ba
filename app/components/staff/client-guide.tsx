// How the engineer of a client connects the client (contract 13.112 and 13.113). The page has the client's secret only right
// after the secret was made.
import type { ReactNode } from 'react';
import { Disclosure } from '../disclosure.tsx';
import { Notice } from '../notice.tsx';
import { Name } from './words.tsx';

type ClientAddresses = {
  name: string;
  callbackUrl: string;
  loginUrl: string | null;
  eventsUrl: string | null;
};

type Guide = { client: ClientAddresses; baseUrl: string; secret?: string | undefined };

/**
 * The value of IDENTITY_URL, the one setting of every kit. Name and secret have only characters that need no escapes in a URL.
 */
const spellIdentityUrl = ({ client, baseUrl, secret = 'SECRET' }: Guide) =>
  baseUrl.replace('://', () => `://${client.name}:${secret}@`);

export function ClientSecret({ title, ...guide }: Guide & { title: string }) {
  const { secret } = guide;
  return (
    <Notice kind="success" focus>
      <p>
        <strong>{title}</strong> Its secret is shown only now: give it to the client’s engineer before you
        leave this page.
      </p>
      <Block label="Secret" text={secret ?? ''} />
      <Block label="IDENTITY_URL, the one setting of every kit" text={spellIdentityUrl(guide)} />
    </Notice>
  );
}

export function Block({ label, text }: { label: string; text: string }) {
  return (
    <div className="field">
      <strong>{label}</strong>
      <pre>
        <code>{text}</code>
      </pre>
      <button type="button" className="quiet" data-copy={text} hidden>
        Copy<span className="visually-hidden"> {label}</span>
      </button>
    </div>
  );
}

const kits = [
  { name: 'TypeScript', slug: 'typescript', run: (port: string) => `PORT=${port} node example.mjs` },
  { name: 'PHP', slug: 'php', run: (port: string) => `php -S localhost:${port} example.php` },
  { name: 'Python', slug: 'python', run: (port: string) => `PORT=${port} python3 example.py` },
];

/** Quotes a text for a shell, because a host name may contain `$`, `;` and quotes. */
const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const paths = { callbackUrl: '/sso/callback', loginUrl: '/login', eventsUrl: '/sso/events' } as const;

/** Shows, for each kit, the commands that run the kit's example as this client. */
export function ClientGuide(guide: Guide) {
  const { client, baseUrl } = guide;
  const url = spellIdentityUrl(guide);
  const { origin, protocol, port: ofOrigin } = new URL(client.callbackUrl);
  // The example listens on plain http. If the origin is https, a proxy or a tunnel has to stand before the example.
  const port = protocol === 'http:' ? ofOrigin || '80' : '4000';
  const others = (['callbackUrl', 'loginUrl', 'eventsUrl'] as const).filter(
    (name) => client[name] !== null && client[name] !== origin + paths[name],
  );
  return (
    <>
      <p>
        Each kit is a folder to download. Its example is a whole site in one short file that answers{' '}
        <code>/sso/callback</code>, <code>/login</code> and <code>/sso/events</code> at port {port}. Paste the
        lines into a terminal
        {protocol === 'https:' && (
          <>
            , and let <Name>{origin}</Name> lead to that port
          </>
        )}
        . Then try the login below.
        {!guide.secret && (
          <>
            {' '}
            Put the secret in place of <code>SECRET</code>. If nobody has the secret, make a second one.
          </>
        )}
      </p>
      {others.length > 0 && (
        <Notice kind="info">
          The example does not answer these addresses of the client:{' '}
          {others.map((name) => String(client[name])).join(', ')}. Change the paths in the example, or change
          the client.
        </Notice>
      )}
      <div className="acts">
        {kits.map(({ name, slug, run }, at) => (
          <Tab key={slug} label={name} open={at === 0}>
            <Block
              label="In an empty folder"
              text={`curl -fsSO ${baseUrl}/developers/identity-client-${slug}.zip\nunzip -q identity-client-${slug}.zip && cd identity-client-${slug}\nIDENTITY_URL=${quote(url)} ORIGIN=${quote(origin)} ${run(port)}`}
            />
            <p>
              The example is the code to start from. <a href={`/developers/${slug}`}>The guide of the kit</a>{' '}
              says how it gets into your site.
            </p>
          </Tab>
        ))}
        <Tab label="WordPress">
          <p>
            <a href="/developers/identity-login-wordpress.zip">Download the plugin</a>, upload it under{' '}
            <em>Plugins</em>, <em>Add New</em>, and activate it. Then write this into{' '}
            <code>wp-config.php</code>, above the line that says to stop editing:
          </p>
          <Block label="In wp-config.php" text={`define('IDENTITY_URL', '${url}');`} />
          <p>
            <em>Settings</em>, <em>Identity Login</em> shows three addresses of the plugin: change the client
            to them here. <a href="/developers/wordpress">The guide of the plugin</a> has every step.
          </p>
        </Tab>
      </div>
    </>
  );
}

const Tab = ({ label, open, children }: { label: string; open?: boolean; children: ReactNode }) => (
  <Disclosure label={label} name="guide" {...(open && { open })}>
    {children}
  </Disclosure>
);
