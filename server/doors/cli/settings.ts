// Checks the settings of the environment. Neither starts the service nor opens a database.
import type { Command } from 'commander';
import { environment, print, printAside } from '../../runtime/process.ts';
import { listInForce, readConfig, type SettingInForce } from '../../settings/config.ts';

export function addSettingsCommand(program: Command): void {
  program
    .command('settings')
    .description('check the settings of the environment, as the service would when it starts')
    .option('--show', 'also list each setting that is in force, without secrets', false)
    .addHelpText('after', '\nExit status: 0 if the settings are right, 1 if any is at fault.')
    .action(({ show }: { show: boolean }) => {
      if (show) print(toTable(listInForce(environment)));
      const { production, unreadSettings, formerSettings } = readConfig(environment);
      if (unreadSettings.length > 0)
        printAside(`No client in SSO_CLIENTS has these settings: ${unreadSettings.join(', ')}.`);
      if (formerSettings.length > 0)
        printAside(`Ignored: nothing reads these settings any more: ${formerSettings.join(', ')}.`);
      print(`The settings are right, for ${production ? 'production' : 'local mode'}.`);
    });
}

/** The value is the last column, because it can have any length. */
function toTable(settings: SettingInForce[]): string {
  const rows = [{ name: 'Setting', from: 'From', value: 'Value' }, ...settings];
  const width = (key: 'name' | 'from') => Math.max(...rows.map((row) => row[key].length)) + 2;
  const [names, sources] = [width('name'), width('from')];
  return `${rows.map(({ name, from, value }) => name.padEnd(names) + from.padEnd(sources) + printable(value)).join('\n')}\n`;
}

/** Writes a value on one line, without characters that move a terminal's cursor. */
const printable = (value: string) =>
  /\p{C}/u.test(value) ? JSON.stringify(value).replaceAll(/\p{C}/gu, '?') : value;
