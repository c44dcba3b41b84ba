// How old the last good backup is (contract 9.317).
import { Gauge, type Registry } from 'prom-client';
import { sameEverywhere } from './at-scrape.ts';

/** The result shows an age in seconds; undefined, the database does not answer, and then the metric is missing. */
export function registerBackup(registry: Registry): (seconds: number | undefined) => void {
  const age = new Gauge({
    name: 'identity_backup_age_seconds',
    help: `For how long nothing has been backed up, in seconds: since the last good backup by the command \`backup\` began, or without any since the database was made. ${sameEverywhere}`,
    registers: [registry],
  });
  const hide = () => age.remove();
  // It begins as 0.
  hide();
  return (seconds) => (seconds === undefined ? hide() : age.set(seconds));
}
