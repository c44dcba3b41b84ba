// The doctor needs only the settings. With the service's database, it also sees whether the client reads after a nudge.
import { type Command, InvalidArgumentError } from 'commander';
import { announce, describeReport, toJson } from '../../../clients/doctor/describe-report.ts';
import { examine } from '../../../clients/doctor/examine.ts';
import type { Target } from '../../../clients/doctor/target.ts';
import { clientsOfSettings } from '../../clients/book.ts';
import { deriveSecret } from '../../clients/local.ts';
import { readCertificate } from '../../runtime/certificate.ts';
import { fetchAsHost } from '../../runtime/fetch-as-host.ts';
import { endWith, environment, print, printAside } from '../../runtime/process.ts';
import { namesOfKnown, prefixOf } from '../../settings/clients.ts';
import { type Config, readConfig } from '../../settings/config.ts';
import type { Env } from '../../settings/reader.ts';
import { localSecrets } from '../../settings/secret-forms.ts';
import { isThisMachine } from '../../settings/this-machine.ts';
import type { Clients } from '../../sso/clients.ts';
import { CommandError, now, readNumber } from './command.ts';
import { findClients, withReads } from './reads.ts';

type Options = {
  service?: string;
  url?: string;
  loginUrl?: string;
  eventsUrl?: string;
  pace?: number;
  json: boolean;
};

const exitCodes = { right: 0, wrong: 1, not_examined: 2, not_sure: 3 };

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check a client: play hand-offs for a test person at its callback, and say what is wrong')
    .argument('<client>', 'its name, such as marketplace')
    .option('--service <url>', 'the issuer, if this is not where the service is (default: IDENTITY_ISSUER)')
    .option('--url <url>', 'its callback (default: as set)')
    .option('--login-url <url>', 'where its own login starts (default: as set)')
    .option('--events-url <url>', 'where it takes nudges (default: as set)')
    .option('--pace <requests>', 'the most requests a minute, 20 to 6000', readPace)
    .option('--json', 'for programs', false)
    .addHelpText(
      'after',
      '\nExit status: 0 if nothing wrong was found, 1 if something was, 2 if the client could not be examined, 3 if much could not be seen.',
    )
    .action(async (name: string, options: Options) => {
      endWith(2);
      const isElsewhere = options.service !== undefined;
      const config = readConfig(isElsewhere ? readElsewhere(options.service, name) : environment);
      const clients = isElsewhere ? clientsOfSettings(config) : await findClients(config);
      const target = await readTarget(config, clients, name, options);
      printAside(`${announce(target)}\n`);
      const tools = { fetch: fetchAsHost, now, readCertificate, pace: options.pace };
      const report = isElsewhere
        ? await examine(target, { ...tools, findReads: async () => 'The database is where the service is.' })
        : await withReads(config, name, (findReads) => examine(target, { ...tools, findReads }));
      print(options.json ? JSON.stringify(toJson(report), null, 2) : describeReport(report));
      endWith(exitCodes[report.verdict]);
    });
}

/** The settings of the client alone (contract 3.37). Where it is examined, the rest of the service's settings is not known. */
function readElsewhere(issuer: string | undefined, name: string): Env {
  const { IDENTITY_SSO_TTL, ...others } = environment;
  const prefix = prefixOf(name);
  const own = Object.entries(others).filter(([setting]) => setting.startsWith(`${prefix}_`));
  return {
    ...Object.fromEntries(own),
    IDENTITY_SSO_TTL,
    IDENTITY_ISSUER: issuer,
    SSO_CLIENTS: namesOfKnown.includes(name) ? undefined : name,
  };
}

function readPace(text: string): number {
  const pace = readNumber(text);
  if (pace < 20 || pace > 6_000) throw new InvalidArgumentError('Enter a number from 20 to 6000.');
  return pace;
}

async function readTarget(config: Config, clients: Clients, name: string, options: Options): Promise<Target> {
  const client = clients.get(name);
  if (!client) throw new CommandError(describeMissing(config, clients, name));
  if (client.kind === 'openid')
    throw new CommandError(
      `${name} speaks OpenID Connect, and the doctor examines hand-offs only. The page of the client says what has worked.`,
    );
  const { callbackUrl, secrets, ttlSeconds } = client;
  const isDemo = client.isDemo && !options.url;
  const missing = isDemo
    ? 'CALLBACK_URL'
    : secrets.includes(localSecrets.IDENTITY_SSO_SECRET)
      ? 'SECRET'
      : undefined;
  if (options.service !== undefined && missing)
    throw new CommandError(
      `With --service, the client is examined by its own settings: set ${prefixOf(name)}_${missing}.`,
    );
  const setLogin = isDemo ? `${config.baseUrl}/demo/${name}/login` : client.loginUrl;
  const loginUrl = options.loginUrl ?? setLogin;
  if (!loginUrl)
    throw new CommandError(
      `Where the login of ${name} starts is not set: ${client.source === 'row' ? 'use client:set --login-url' : `set ${prefixOf(name)}_LOGIN_URL`}, or give --login-url.`,
    );
  // With --url, the doctor examines a client elsewhere. If the client in the settings is only our demo client, its URL for nudges
  // is not used, because the client elsewhere has another one.
  const setEvents = client.isDemo && !isDemo ? undefined : client.eventsUrl;
  const eventsUrl = options.eventsUrl ?? setEvents;
  return {
    client: name,
    issuer: config.issuer,
    callbackUrl: requireAddress('--url', options.url ?? callbackUrl),
    loginUrl: requireAddress('--login-url', loginUrl),
    eventsUrl: eventsUrl && requireAddress('--events-url', eventsUrl),
    secrets,
    publicKeys: [...Object.values(localSecrets), await deriveSecret(name)],
    ttlSeconds,
    demoUnless: isDemo ? `${prefixOf(name)}_CALLBACK_URL` : undefined,
  };
}

function describeMissing({ unreadSettings }: Config, clients: Clients, name: string): string {
  const known = clients.list().map((client) => `${client.name}${client.isDemo ? ' (a demo client)' : ''}`);
  return [
    `No client ${name} is set here. The clients are: ${known.join(', ')}.`,
    ...(unreadSettings.length > 0 ? [`No client has the settings ${unreadSettings.join(', ')}.`] : []),
    `Run this with the environment of the service. There SSO_CLIENTS names further clients, and ${prefixOf(name)}_CALLBACK_URL says where this one takes hand-offs.`,
  ].join('\n');
}

/** A hand-off that is sent to the URL logs somebody in, so it must not travel in the clear. */
function requireAddress(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname));
  if (!url || !isSafe || url.username || url.password || url.hash)
    throw new CommandError(
      `${option} must be an https URL, or one on this machine, without user name and fragment.`,
    );
  return text;
}
