import { Counter, Gauge, type Registry } from 'prom-client';

/** For the help of metrics that are read from the database. */
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

/** A counter of something that counts by itself since the start of the process. */
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
