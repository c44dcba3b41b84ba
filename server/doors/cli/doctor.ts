// The command that runs the doctor. The doctor needs only the settings. With the service's database, it can see whether the
// client reads its events after a nudge.
import { type Command, InvalidArgumentError } from 'commander';
import { announce, describeReport, toJson } from '../../../clients/doctor/describe-report.ts';
import { examine, type Report } from '../../../clients/doctor/examine.ts';
import type { Target, Tools } from '../../../clients/doctor/target.ts';
import type { Database } from '../../../db/postgres/client.ts';
import { readCertificate } from '../../runtime/certificate.ts';
import { fetchAsHost } from '../../runtime/fetch-as-host.ts';
import { endWith, environment, print, printAside } from '../../runtime/process.ts';
import { readConfig } from '../../settings/config.ts';
import { CommandError, now, readNumber } from './command.ts';
import { createEventWriter } from './doctor-events.ts';
import { type Addresses, readTarget, readTargetElsewhere } from './doctor-target.ts';
import { findClients, withReads } from './reads.ts';

type Options = Addresses & {
  service?: string;
  pace?: number;
  events: boolean;
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
    .option(
      '--events',
      'append events about people of this run, and look what the client does with them',
      false,
    )
    .option('--pace <requests>', 'the most requests a minute, 20 to 6000', readPace)
    .option('--json', 'for programs', false)
    .addHelpText(
      'after',
      '\nExit status: 0 if nothing wrong was found, 1 if something was, 2 if the client could not be examined, 3 if much could not be seen.',
    )
    .action(async (name: string, options: Options) => {
      endWith(2);
      const { service, events, pace, json } = options;
      if (service !== undefined && events)
        throw new CommandError(
          '--events needs the database of the service: leave --service out, and run it there.',
        );
      const tools = { fetch: fetchAsHost, now, readCertificate, pace };
      const begin = (target: Target, more: Partial<Tools>) => {
        printAside(`${announce(target, events)}\n`);
        return examine(target, { ...tools, ...more });
      };
      let report: Report;
      if (service !== undefined) {
        const findReads = async () => 'The database is where the service is.';
        report = await begin(await readTargetElsewhere(service, name, options), { findReads });
      } else {
        const config = readConfig(environment);
        const target = await readTarget(config, await findClients(config), name, options);
        report = await withReads(config, name, (findReads, db) =>
          begin(target, { findReads, events: events ? requireWriter(db, name) : undefined }),
        );
      }
      print(json ? JSON.stringify(toJson(report), null, 2) : describeReport(report));
      endWith(exitCodes[report.verdict]);
    });
}

function requireWriter(db: Database | undefined, name: string) {
  if (!db) throw new CommandError('--events needs the database of the service.');
  return createEventWriter(db, name);
}

function readPace(text: string): number {
  const pace = readNumber(text);
  if (pace < 20 || pace > 6_000) throw new InvalidArgumentError('Enter a number from 20 to 6000.');
  return pace;
}
