// `npm run cli -- doctor`, as an operator runs it: settings in, a report and an exit status out.
import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { type Outcome, readOutcome } from '../../support/app/cli.ts';
import { commandOf, type Runtime } from '../../support/app/process.ts';
import { settings } from './clients.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const [secret = ''] = settings.secrets;

/** Runs without a database, with the settings alone. */
export function runDoctor(
  args: string[],
  env: Record<string, string> = {},
  runtime: Runtime = 'node',
): Promise<Outcome> {
  const [command = '', ...flags] = commandOf[runtime];
  const child = spawn(command, [...flags, 'build/service/cli.js', 'doctor', ...args], {
    cwd: root,
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      NO_COLOR: '1',
      NODE_ENV: 'test',
      DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
      ...env,
    },
  });
  return readOutcome(child);
}

export const operatorSettings = (base: string, name: string): Record<string, string> => ({
  SSO_CLIENTS: 'shop',
  SSO_SHOP_CALLBACK_URL: `${base}/${name}/callback`,
  SSO_SHOP_LOGIN_URL: `${base}/${name}/login`,
  SSO_SHOP_EVENTS_URL: `${base}/${name}/events`,
  SSO_SHOP_SECRET: secret,
});
