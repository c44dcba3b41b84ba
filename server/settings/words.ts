// What each setting means: `npm run settings` makes docs/operate/settings.md and .env.example from these words.

export type SettingWords = {
  /** `SSO_<X>_…` is a setting of each client. */
  name: string;
  /** Markdown on one line. Links start from docs/operate/. */
  meaning: string;
  /** What applies if the setting is not set. Left out if the code has a default value. */
  fallback?: string;
  /** What applies in local mode if the setting is not set. Left out if the same applies in production. */
  local?: string;
};

export const settingGroups: { title: string; intro?: string; settings: SettingWords[] }[] = [
  {
    title: 'The service',
    settings: [
      { name: 'NODE_ENV', meaning: '`production` for production', fallback: 'local mode' },
      {
        name: 'IDENTITY_ISSUER',
        meaning:
          'The public address of this service: `iss` in every payload, and the base of every link. An origin, such as `https://id.example.com`. Clients compare it byte for byte, so any other spelling of it, such as with a slash at the end, is refused, and the fault says the right one. Passkeys belong to its host: after a change of that, nobody can use theirs.',
        local: '`http://localhost:$PORT`',
      },
      {
        name: 'IDENTITY_SSO_TTL',
        meaning: 'How long a hand-off is valid, in seconds',
      },
      {
        name: 'IDENTITY_SIGN_UP',
        meaning:
          'Whether people can create an account by themselves. If it is `closed`, the login page says that support gives them one.',
      },
      {
        name: 'IDENTITY_CLIENTS_PRIVATE_NETWORKS',
        meaning:
          'Whether webhooks of clients in the database may go to addresses in private networks, such as `10.0.0.0/8`. Webhooks of clients in the settings may.',
      },
      {
        name: 'IDENTITY_ADMIN_SECOND_FACTOR',
        meaning:
          'Whether administrators and managers must set up a second factor at their next login, before anything else',
      },
      {
        name: 'IDENTITY_ENCRYPTION_KEY',
        meaning:
          'Encrypts the secrets of authenticator apps: 32 bytes in base64 (`openssl rand -base64 32`), or two, comma-separated, during a [rotation](secrets.md#rotate-the-encryption-key)',
        local: 'built in',
      },
      {
        name: 'PASSWORD_HASHING_THREADS',
        meaning: 'How many passwords are [hashed at once](proxy.md#threads-for-passwords)',
        fallback: 'one for each processor, on Node one more, at most 4',
      },
    ],
  },
  {
    title: 'What people see',
    settings: [
      { name: 'IDENTITY_NAME', meaning: 'What people call this service, on pages and in emails' },
      {
        name: 'IDENTITY_LOGO_FILE',
        meaning:
          'The logo in the head of each page, and the icon of the browser’s tab: an SVG or PNG file of 64 KiB at most. On dark pages, a PNG stands on white. An SVG can adapt by itself, with `prefers-color-scheme`.',
        fallback: 'the name as text, and its first letter as the icon',
      },
      {
        name: 'IDENTITY_LOGO_DARK_FILE',
        meaning: 'The logo and the icon for people whose device is set to dark: a file of the same kinds',
        fallback: 'the same logo',
      },
      {
        name: 'IDENTITY_ACCENT_COLOR',
        meaning:
          'Any colour for buttons and links, such as `#0e6b56`, on pages, in emails and on documents. Text on it is black or white. Text in this colour gets a shade that can be read.',
        fallback: 'a green',
      },
      {
        name: 'IDENTITY_SUPPORT_URL',
        meaning:
          'Where people get help, such as `mailto:help@example.com` or an `https` address. *Contact support* leads there, and *Help* at the foot of each page.',
        fallback: 'pages and emails name nobody to contact',
      },
      {
        name: 'IDENTITY_PRIVACY_URL',
        meaning: '*Privacy* at the foot of each page: an `https` address',
        fallback: 'left out',
      },
      {
        name: 'IDENTITY_TERMS_URL',
        meaning: '*Terms* at the foot of each page: an `https` address',
        fallback: 'left out',
      },
      {
        name: 'IDENTITY_ACCESSIBILITY_URL',
        meaning:
          '*Accessibility* at the foot of each page: the `https` address of your statement, for which [ours](../accessibility.md) is a start',
        fallback: 'left out',
      },
      {
        name: 'IDENTITY_SECURITY_CONTACT',
        meaning:
          'Where people report weaknesses, such as `mailto:security@example.com` or an `https` address: `/.well-known/security.txt` names it',
        fallback: 'no such file',
      },
    ],
  },
  {
    title: 'Network',
    settings: [
      { name: 'PORT', meaning: 'Where to listen' },
      { name: 'HOST', meaning: 'The address to listen on' },
      {
        name: 'METRICS_PORT',
        meaning:
          'Where Prometheus reads [metrics](watch.md#metrics), at the same `HOST`: another port than `PORT`. Keep it off the internet.',
        fallback: 'off',
      },
      {
        name: 'LOG_LEVEL',
        meaning:
          'What [the log](watch.md#logs) has: with `error` no line for each request, but errors, and what is kept nowhere else',
      },
      {
        name: 'SHUTDOWN_DELAY_SECONDS',
        meaning:
          'How long the service [serves on](upgrade.md#restart-without-a-gap) after a signal to stop, until the balancer has noticed',
      },
      {
        name: 'TRUSTED_PROXIES',
        meaning:
          '[Proxies](proxy.md) whose `X-Forwarded-For` counts: addresses or subnets, comma-separated, or `loopback`, `linklocal`, `uniquelocal`; `none` where no proxy is in front',
        local: '`none`',
      },
      {
        name: 'IDENTITY_PLACE_HEADER',
        meaning:
          'The header in which such a proxy says roughly where a visitor is, such as `cf-ipcity`: people see it beside their sessions and activity. The proxy must set or remove it in every request.',
        fallback: 'no place is kept',
      },
      {
        name: 'IDENTITY_REQUEST_ID_HEADER',
        meaning:
          'The header in which such a proxy says the id of a request, such as `x-request-id`: the log, the history and `X-Request-Id` of the answer then have that id. The proxy must set or remove it in every request.',
        fallback: 'ids are made here',
      },
    ],
  },
  {
    title: 'Clients',
    intro: `Each client has the settings \`SSO_<X>_…\`. \`<X>\` is \`MARKETPLACE\` for the client \`marketplace\`, \`WEBSITE\` for
\`network_site\`, \`CRM\` for \`crm_app\`, and for a client in \`SSO_CLIENTS\` its name in capitals. In production a client
has both a callback and a secret, or neither. [Clients in the database](clients.md#clients-in-the-database) need no settings.`,
    settings: [
      {
        name: 'SSO_CLIENTS',
        meaning: 'Names of further clients, comma-separated: lower-case letters, digits and `_`',
        fallback: 'none',
      },
      {
        name: 'SSO_<X>_CALLBACK_URL',
        meaning: 'Where hand-offs to the client go',
        fallback: 'no such client',
        local: 'a demo client',
      },
      {
        name: 'SSO_<X>_SECRET',
        meaning:
          'The secret that we share with the client (`openssl rand -base64 48`), or two, comma-separated, during a [rotation](secrets.md#rotate-a-secret): old, new',
        fallback: 'no such client',
        local: '`IDENTITY_SSO_SECRET`',
      },
      {
        name: 'SSO_<X>_TITLE',
        meaning: 'What people call the client',
        fallback: 'made of its name',
      },
      {
        name: 'SSO_<X>_LOGO_FILE',
        meaning: 'Its logo, on the login page and among the products: an SVG or PNG file of 64 KiB at most',
        fallback: 'none',
      },
      {
        name: 'SSO_<X>_LOGO_DARK_FILE',
        meaning: 'Its logo for people whose device is set to dark: a file of the same kinds',
        fallback: 'the same logo',
      },
      {
        name: 'SSO_<X>_LOGIN_URL',
        meaning: "Where the client's own login starts: *Open* on `/profile/products` leads there",
        fallback: 'a launch',
      },
      {
        name: 'SSO_<X>_LISTED',
        meaning:
          'Who sees the client on `/profile/products`: anybody whom one of the words names. `visited` are people who have opened it before, and `contract` people whose account has a service contract that is not canceled or expired. It only hides: people who do not see the client can still log in to it.',
        fallback: '`everybody`; `crm_app`: `visited,contract`',
      },
      {
        name: 'SSO_<X>_ROLES',
        meaning:
          'Who may enter the client, by the role that it is told. A manager counts as `admin`. Anybody else is refused at the launch, and the client learns nothing of them. It hides nothing: `SSO_<X>_LISTED` says who sees the client.',
        fallback: 'everybody',
      },
      {
        name: 'SSO_<X>_FACTOR',
        meaning:
          'Whether people need a second factor for the client: `required` leads a login without one to give it or to set one up first. A passkey counts.',
      },
      {
        name: 'SSO_<X>_EVENTS_URL',
        meaning:
          'Where the client is [told of new events](../events.md#be-told-of-events), such as `https://shop.example.com/sso/events`',
        fallback: 'none; a demo client has its own',
      },
      {
        name: 'IDENTITY_SSO_SECRET',
        meaning: 'Local mode only: the secret of clients without one',
        fallback: 'built in',
      },
    ],
  },
  {
    title: 'The legacy marketplace',
    intro:
      'The [inbound hand-off](../migrate.md) is off in production while neither secret nor issuer is set.',
    settings: [
      {
        name: 'MARKETPLACE_SSO_SECRET',
        meaning: 'What the marketplace signs with; two, comma-separated, during a rotation',
        fallback: 'off',
        local: 'built in',
      },
      {
        name: 'MARKETPLACE_SSO_ISSUER',
        meaning: 'The `iss` that an inbound hand-off must carry',
        fallback: 'off',
        local: '`https://marketplace.local.test`',
      },
      {
        name: 'MARKETPLACE_SSO_TTL',
        meaning: 'The longest life of an inbound hand-off that is accepted, in seconds',
      },
    ],
  },
  {
    title: 'The CRM',
    settings: [
      {
        name: 'CRM_SIGNUPS_SECRET',
        meaning:
          'What the CRM signs [signups](../crm.md) with: `whsec_` and the base64 of 24 to 64 bytes (`echo "whsec_$(openssl rand -base64 32)"`); two, comma-separated, during a rotation',
        fallback: 'signups are off',
        local: 'built in',
      },
    ],
  },
  {
    title: 'Payments',
    settings: [
      {
        name: 'PAYMENTS_SECRET',
        meaning:
          'What a payment provider signs its [reports of payments](../payments.md) with: of the form of `CRM_SIGNUPS_SECRET`; two, comma-separated, during a rotation',
        fallback: 'reports are off',
        local: 'built in',
      },
    ],
  },
  {
    title: 'Billing',
    settings: [
      {
        name: 'VAT_CHECK',
        meaning:
          '`off` or `vies`. With `vies`, the service asks VIES, the EU’s register, about VAT IDs that could make an invoice reverse charge. It sends the VAT ID and name of the customer and your own VAT ID to ec.europa.eu over HTTPS. A valid VAT ID in the customer’s name counts as checked, and one that is not valid does not count. Administrators decide the others.',
      },
      {
        name: 'BILLING_FONT_FILES',
        meaning:
          'Fonts of invoices and credit notes besides the built-in one: TTF, OTF, TTC or OTC files of 32 MiB at most each and 64 MiB together, read at the start and kept in memory, twice while documents are made. Each character is in the first font that has it; the built-in font comes last. A collection counts as its first font. [Billing](billing.md#names-in-every-script) says which ones Debian has. Their licences must allow that documents hold parts of them.',
        fallback: 'DejaVu Sans Condensed alone: Latin, Greek, Cyrillic, Armenian, Georgian, Hebrew, Arabic',
      },
    ],
  },
  {
    title: 'Database',
    settings: [
      {
        name: 'DATABASE_URL',
        meaning: 'Postgres, such as `postgres://user:password@db.example.com/identity`',
        local: 'an embedded Postgres',
      },
      {
        name: 'DATABASE_POOL_SIZE',
        meaning: 'Connections of each instance; it has one more with `METRICS_PORT`',
      },
      {
        name: 'DATABASE_PREPARED_STATEMENTS',
        meaning:
          'Whether statements are prepared by name: `off` behind [PgBouncer](postgres.md#pgbouncer) before 1.21 in transaction mode',
      },
      {
        name: 'EMBEDDED_DATABASE_FOLDER',
        meaning:
          'Without `DATABASE_URL`: where the embedded Postgres keeps its data. As root with a checkout that others cannot enter, the start prints another folder, below `/var/lib`.',
        fallback: '`.data`',
      },
    ],
  },
  {
    title: 'Email',
    settings: [
      {
        name: 'SMTP_URL',
        meaning:
          'The mail server, such as `smtps://user:password@mail.example.com`. With `smtp://` a server on another machine must offer [STARTTLS](mail.md), unless the URL ends with `?tls=off`.',
        local: 'emails are kept, and shown at `/dev/mail`',
      },
      {
        name: 'MAIL_FROM',
        meaning: 'The sender, such as `"Identity <id@example.com>"`: in quotes where a shell reads it',
        local: 'none',
      },
      {
        name: 'BILLING_ARCHIVE_EMAIL',
        meaning: 'Who gets a copy of each invoice and credit note, such as `archive@example.com`',
        fallback: 'nobody',
      },
    ],
  },
];
