// The doctor: proves a client right, or says what is wrong with it. It needs the settings, and no database.
import type { Command } from 'commander';
import { announce, describeReport, toJson } from '../doctor/describe-report.ts';
import { examine } from '../doctor/examine.ts';
import type { Target } from '../doctor/target.ts';
import { readCertificate } from '../runtime/certificate.ts';
import { endWith, environment, print, printAside } from '../runtime/process.ts';
import { type Config, readConfig } from '../settings/config.ts';
import { isThisMachine } from '../settings/this-machine.ts';
import { CommandError, now } from './command.ts';

type Options = { url?: string; loginUrl?: string; eventsUrl?: string; json: boolean };

const exitCodes = { right: 0, wrong: 1, not_examined: 2 };

export function addDoctorCommand(program: Command): void {
  program
    .command('doctor')
    .description(
      'prove a client right, or say what is wrong: plays hand-offs for a test person at its callback',
    )
    .argument('<client>', 'its name, such as marketplace')
    .option('--url <url>', 'its callback (default: as set)')
    .option('--login-url <url>', 'where its own login starts (default: as set)')
    .option('--events-url <url>', 'where it takes nudges (default: as set)')
    .option('--json', 'for programs', false)
    .addHelpText(
      'after',
      '\nExit status: 0 where nothing wrong was found, 1 where something was, 2 where it could not be examined.',
    )
    .action(async (name: string, options: Options) => {
      endWith(2);
      const target = readTarget(readConfig(environment), name, options);
      printAside(`${announce(target)}\n`);
      const report = await examine(target, { fetch, now, readCertificate });
      print(options.json ? JSON.stringify(toJson(report), null, 2) : describeReport(report));
      endWith(exitCodes[report.verdict]);
    });
}

function readTarget(config: Config, name: string, options: Options): Target {
  const client = config.clients.get(name);
  if (!client)
    throw new CommandError(
      `No client ${name} is set here. Run this with the service's environment, or set SSO_CLIENTS and SSO_<X>_CALLBACK_URL (docs/operate.md).`,
    );
  const { callbackUrl, secrets, isDemo } = client;
  const setLogin = isDemo ? `${config.baseUrl}/demo/${name}/login` : client.loginUrl;
  const loginUrl = options.loginUrl ?? setLogin;
  if (!loginUrl)
    throw new CommandError(
      `Where the login of ${name} starts is not set: set its LOGIN_URL (docs/operate.md), or give --login-url.`,
    );
  const eventsUrl = options.eventsUrl ?? client.eventsUrl;
  return {
    client: name,
    issuer: config.issuer,
    callbackUrl: requireAddress('--url', options.url ?? callbackUrl),
    loginUrl: requireAddress('--login-url', loginUrl),
    eventsUrl: eventsUrl && requireAddress('--events-url', eventsUrl),
    secrets,
    ttlSeconds: config.ssoTtlSeconds,
  };
}

/** What is sent there logs somebody in, so it does not travel in the clear. */
function requireAddress(option: string, text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isSafe = url?.protocol === 'https:' || (url?.protocol === 'http:' && isThisMachine(url.hostname));
  if (!url || !isSafe || url.username || url.password || url.hash)
    throw new CommandError(
      `${option} must be an https URL, or one on this machine, without user name and fragment.`,
    );
  return text;
}
