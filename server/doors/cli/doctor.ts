// The doctor needs only the settings. With the service's database, it also sees whether the client reads after a nudge.
import type { Command } from 'commander';
import { announce, describeReport, toJson } from '../../../clients/doctor/describe-report.ts';
import { examine } from '../../../clients/doctor/examine.ts';
import type { Target } from '../../../clients/doctor/target.ts';
import { parseUrl } from '../../basics/url.ts';
import { readCertificate } from '../../runtime/certificate.ts';
import { fetchAsHost } from '../../runtime/fetch-as-host.ts';
import { endWith, environment, print, printAside } from '../../runtime/process.ts';
import { prefixOf } from '../../settings/clients.ts';
import { type Config, readConfig } from '../../settings/config.ts';
import { isThisMachine } from '../../settings/this-machine.ts';
import type { Clients } from '../../sso/clients.ts';
import { CommandError, now } from './command.ts';
import { findClients, withReads } from './reads.ts';

type Options = { url?: string; loginUrl?: string; eventsUrl?: string; json: boolean };

const exitCodes = { right: 0, wrong: 1, not_examined: 2 };

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description('check a client: play hand-offs for a test person at its callback, and say what is wrong')
    .argument('<client>', 'its name, such as marketplace')
    .option('--url <url>', 'its callback (default: as set)')
    .option('--login-url <url>', 'where its own login starts (default: as set)')
    .option('--events-url <url>', 'where it takes nudges (default: as set)')
    .option('--json', 'for programs', false)
    .addHelpText(
      'after',
      '\nExit status: 0 if nothing wrong was found, 1 if something was, 2 if the client could not be examined.',
    )
    .action(async (name: string, options: Options) => {
      endWith(2);
      const config = readConfig(environment);
      const target = readTarget(config, await findClients(config), name, options);
      printAside(`${announce(target)}\n`);
      const report = await withReads(config, name, (findReads) =>
        examine(target, { fetch: fetchAsHost, now, readCertificate, findReads }),
      );
      print(options.json ? JSON.stringify(toJson(report), null, 2) : describeReport(report));
      endWith(exitCodes[report.verdict]);
    });
}

function readTarget(config: Config, clients: Clients, name: string, options: Options): Target {
  const client = clients.get(name);
  if (!client) throw new CommandError(describeMissing(config, clients, name));
  if (client.kind === 'openid')
    throw new CommandError(
      `${name} speaks OpenID Connect, and the doctor examines hand-offs only. The page of the client says what has worked.`,
    );
  const { callbackUrl, secrets, ttlSeconds } = client;
  const isDemo = client.isDemo && !options.url;
  const setLogin = isDemo ? `${config.baseUrl}/demo/${name}/login` : client.loginUrl;
  const loginUrl = options.loginUrl ?? setLogin;
  if (!loginUrl)
    throw new CommandError(
      `Where the login of ${name} starts is not set: ${client.source === 'row' ? 'use client:set --login-url' : `set ${prefixOf(name)}_LOGIN_URL`}, or give --login-url.`,
    );
  // With --url, the doctor examines a client elsewhere. If the client in the settings is only our demo client, its URL for
  // nudges is not used, because the client elsewhere has its own.
  const setEvents = client.isDemo && !isDemo ? undefined : client.eventsUrl;
  const eventsUrl = options.eventsUrl ?? setEvents;
  return {
    client: name,
    issuer: config.issuer,
    callbackUrl: requireAddress('--url', options.url ?? callbackUrl),
    loginUrl: requireAddress('--login-url', loginUrl),
    eventsUrl: eventsUrl && requireAddress('--events-url', eventsUrl),
    secrets,
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
  const url = parseUrl(text);
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname));
  if (!url || !isSafe || url.username || url.password || url.hash)
    throw new CommandError(
      `${option} must be an https URL, or one on this machine, without user name and fragment.`,
    );
  return text;
}
