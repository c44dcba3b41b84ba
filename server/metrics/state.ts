import { Gauge, Histogram, type Registry } from 'prom-client';
import { hashingThreads } from '../runtime/hashing-threads.ts';
import { measureProcess, runtime } from '../runtime/process.ts';
import { version } from '../runtime/version.ts';
import { counter, gauge } from './at-scrape.ts';

export function registerProcess(registry: Registry): void {
  const info = { version, runtime: runtime.name, runtime_version: runtime.version };
  new Gauge({
    name: 'identity_build_info',
    help: 'Always 1; its labels say what runs.',
    labelNames: Object.keys(info),
    registers: [registry],
  }).set(info, 1);
  counter(registry, {
    name: 'process_cpu_seconds_total',
    help: 'Processor time used so far, user and system, in seconds.',
    read: () => measureProcess().cpuSeconds,
  });
  gauge(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory, in bytes.',
    read: () => measureProcess().residentBytes,
  });
  gauge(registry, {
    name: 'identity_heap_used_bytes',
    help: 'Memory that JavaScript uses, in bytes.',
    read: () => measureProcess().heapUsedBytes,
  });
  gauge(registry, {
    name: 'process_start_time_seconds',
    help: 'When the process started, in Unix seconds.',
    read: () => performance.timeOrigin / 1_000,
  });
}

const lookMs = 100;

/** Measures how late a timer runs. The returned function stops the timer. */
export function watchEventLoop(registry: Registry): () => void {
  const lags = new Histogram({
    name: 'identity_event_loop_lag_seconds',
    help: 'How late a timer of 100 ms was: so long does everything wait before it is begun.',
    buckets: [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5],
    registers: [registry],
  });
  let lastAt = performance.now();
  const timer = setInterval(() => {
    const now = performance.now();
    // A pause of a second counts as ten late timers: the first was 900 ms late, and the last was on time.
    for (let lateMs = now - lastAt - lookMs; ; lateMs -= lookMs) {
      lags.observe(Math.max(0, lateMs) / 1_000);
      if (lateMs < lookMs) break;
    }
    lastAt = now;
  }, lookMs);
  return () => clearInterval(timer);
}

/** `refused` counts refusals since the start of the process. */
export type Hashing = { active: number; waiting: number; refused: number };

export function registerHashing(registry: Registry, readHashing: () => Hashing): void {
  gauge(registry, {
    name: 'identity_password_hashing_threads',
    help: 'Passwords that may be hashed at once.',
    read: () => hashingThreads,
  });
  gauge(registry, {
    name: 'identity_password_hashing_active',
    help: 'Passwords that are being hashed.',
    read: () => readHashing().active,
  });
  gauge(registry, {
    name: 'identity_password_hashing_waiting',
    help: 'Passwords that wait to be hashed.',
    read: () => readHashing().waiting,
  });
  counter(registry, {
    name: 'identity_password_hashing_refused_total',
    help: 'Requests refused because too many passwords waited to be hashed.',
    read: () => readHashing().refused,
  });
}
