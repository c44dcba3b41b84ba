// Apache with mod_auth_openidc, in front of an application that reads variables.
import { expect, it } from 'vitest';
import { logIn } from '../support/app/browser.ts';
import { requirePrograms } from '../support/machines/programs.ts';
import { shared } from '../support/run/shared.ts';
import {
  askForLogin,
  expectBackChannelLogout,
  expectNobody,
  findPerson,
  logInAt,
  openPair,
  type Place,
  person,
} from './pair.ts';
import { openProgram } from './program-product.ts';

const pair = shared(() =>
  openPair({
    options: (origin) => [
      ...['--redirect-uri', `${origin}/callback`, '--post-logout-uri', `${origin}/`],
      ...['--back-channel-uri', `${origin}/callback?logout=backchannel`, '--roles', 'merchant'],
    ],
    open: openApache,
  }),
);

const modules = [
  'mpm_event',
  'authn_core',
  'authz_core',
  'authz_user',
  'auth_openidc',
  'dir',
  'include',
  'mime',
];

function openApache(place: Place) {
  const program = '/usr/sbin/apache2';
  requirePrograms('/usr/lib/apache2/modules/mod_auth_openidc.so');
  return openProgram(place, {
    program,
    args: (folder) => ['-D', 'FOREGROUND', '-d', folder, '-f', 'apache.conf'],
    files: {
      'apache.conf': configure(place),
      'pages/index.shtml': page(place),
      'pages/in/index.shtml': page(place),
    },
  });
}

const configure = ({ issuer, client, secret, origin, port }: Place) => `
${modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`).join('\n')}
ServerName 127.0.0.1
Listen 127.0.0.1:${port}
DefaultRuntimeDir .
PidFile pid
ErrorLog log
StartServers 1
ThreadsPerChild 8
MaxRequestWorkers 8
TypesConfig /dev/null
AddType text/html .shtml
AddOutputFilter INCLUDES .shtml
DirectoryIndex index.shtml
DocumentRoot pages
OIDCProviderMetadataURL ${issuer}/.well-known/openid-configuration
OIDCClientID ${client}
OIDCClientSecret ${secret}
OIDCRedirectURI ${origin}/callback
OIDCCryptoPassphrase a-passphrase-of-this-test
OIDCScope "openid profile email groups"
OIDCPKCEMethod S256
OIDCPassClaimsAs environment
<Location />
  Options +Includes
  AuthType openid-connect
  OIDCUnAuthAction pass
  Require valid-user
</Location>
# The callback is outside, because this rule would refuse the log-outs that come to it.
<Location /in>
  OIDCUnAuthAction auth
  Require claim groups:sell_products
</Location>
`;

const echo = (name: string) => `"${name}":"<!--#echo var="OIDC_CLAIM_${name}" -->"`;

const page = ({ origin }: Place) => `<!doctype html><title>Product</title>
<!--#if expr="-n v('OIDC_CLAIM_sub')" -->
<pre id="who">{${['email', 'name', 'groups'].map(echo).join()}}</pre>
<a href="/callback?logout=${encodeURIComponent(`${origin}/`)}">Log out</a>
<!--#else --><a href="/in/">Log in</a><!--#endif -->`;

const ours = { ...person, groups: person.groups.join() };

it('lets people in by their groups, and logs out without a question (contract 14.50 and 14.61)', async () => {
  const { page, context } = await pair.site.visit();
  expect(await logInAt(page, pair)).toEqual(ours);
  await page.getByText('Log out').click();
  await page.waitForURL(`${pair.origin}/`);
  await expectNobody(page, pair);
  await askForLogin(page, pair);
  await page.getByLabel('Email address').waitFor();
  await context.close();
});

it('lets nobody in whose session here has ended (contract 14.70 and 14.73)', () =>
  expectBackChannelLogout(pair));

it('gets nobody whose role may not enter, and then the person who logs in instead (contract 14.34)', async () => {
  const { page, context } = await pair.site.visit();
  await askForLogin(page, pair);
  await logIn(page, 'customer@example.test');
  await page.getByRole('link', { name: 'Log in with another account' }).click();
  await logIn(page, person.email);
  expect(await findPerson(page, pair)).toEqual(ours);
  await context.close();
});
