import { Counter, Gauge, type Registry } from 'prom-client';

/** The end of the help text of each metric that is read from the database. */
export const sameEverywhere = 'The same on every instance: take the max.';

type Reading = { name: string; help: string; read: () => number };

export function gauge(registry: Registry, { name, help, read }: Reading): void {
  new Gauge({
    name,
    help,
    registers: [registry],
    collect() {
      this.set(read());
    },
  });
}

/** Registers a counter for a number that is counted elsewhere since the start of the process. */
export function counter(registry: Registry, { name, help, read }: Reading): void {
  new Counter({
    name,
    help,
    registers: [registry],
    collect() {
      this.reset();
      this.inc(read());
    },
  });
}
