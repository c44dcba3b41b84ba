// The process: it reads the settings, listens, migrates, serves, and drains at the end. It runs on Node and on Deno.

import { EmbeddedPostgresError } from '../db/embedded/files.ts';
import { startEmbeddedPostgres } from '../db/embedded/server.ts';
import { explainRefusal } from '../db/explain-refusal.ts';
import { type LocalClient, MisuseError, readLocalClients, spellIdentityUrl } from './clients/local.ts';
import { demoPassword, demoUsers } from './doors/demo/demo-users.ts';
import { exampleSettings } from './doors/demo/example-settings.ts';
import { BuildError, loadPages, serveBuiltFiles } from './instance/build.ts';
import { openInstance } from './instance/instance.ts';
import { dataFolder } from './runtime/files.ts';
import { listen } from './runtime/listen.ts';
import type { Fetch, RefuseHeaders } from './runtime/listener.ts';
import { ListenError, type Listener } from './runtime/listener.ts';
import {
  args,
  createLog,
  endWith,
  environment,
  exitWith,
  listValues,
  onHangUp,
  onStopSignal,
  print,
} from './runtime/process.ts';
import { type Config, readConfig } from './settings/config.ts';
import { ConfigError } from './settings/reader.ts';

// How long a stop takes. From the signal on, /readyz answers 503 and every answer has `Connection: close`:
//   SHUTDOWN_DELAY_SECONDS (5)  requests are served as before, until the balancer has noticed
//   graceMs (8)                 the port is closed; requests under way get their answers, then they are cut off
//   closeMs (1.5)               the jobs, which have been stopping since the signal, and the database end; then exit
// This adds up to 14.5 s, and we promise 15 s at most.
const graceMs = 8_000;
const closeMs = 1_500;

async function start(): Promise<void> {
  const asked = listValues('client');
  if (asked.length > 0 && environment.NODE_ENV === 'production')
    throw new MisuseError('--client is only for local mode. In production, use client:add.');
  const config = readConfig(environment);
  const localClients = await readLocalClients(asked, config);
  const log = createLog(config.logLevel);
  // Operators who send SIGHUP expect a reload. In local mode, SIGHUP comes from a closed terminal and ends the process.
  if (config.production)
    onHangUp(() => log.record({}, 'SIGHUP changes nothing: settings are read at the start, so restart'));
  // Settings that nothing reads do not prevent the start. They may be left over from a removed client, and a refused start
  // would turn an upgrade into an outage.
  if (config.unreadSettings.length > 0)
    log.info({ settings: config.unreadSettings }, 'no client in SSO_CLIENTS has these settings');
  if (config.formerSettings.length > 0)
    log.record({ settings: config.formerSettings }, 'ignored: nothing reads these settings any more');
  const isDevelopment = args.includes('--dev') && !config.production;
  const bundler = isDevelopment ? await (await import('./instance/bundler.ts')).startBundler() : undefined;
  const pages = bundler?.pages ?? (await loadPages());
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres(config.embeddedDatabaseFolder ?? dataFolder);
  const options = {
    config,
    databaseUrl: config.databaseUrl ?? embedded?.url ?? '',
    log,
    demoSeller: exampleSettings,
    localClients,
    shell: { pages, staticFiles: bundler?.staticFiles ?? serveBuiltFiles(), isDevelopment },
  };
  try {
    let service = await openInstance(options);
    const listeners: Listener[] = [];
    const closeListeners = (ms: number) => Promise.all(listeners.map((listener) => listener.close(ms)));
    let isUp = false;
    try {
      const { host, port, metricsPort } = config;
      const refuseHeaders: RefuseHeaders = (accept) => service.refuseHeaders(accept);
      const fetch: Fetch = (request, peer) => service.fetch(request, peer);
      listeners.push(await listen(fetch, { host, port, refuseHeaders }));
      if (metricsPort) {
        const metrics = { host, port: metricsPort, setting: 'METRICS_PORT' };
        listeners.push(await listen((request, peer) => service.fetchMetrics(request, peer), metrics));
      }
      onStopSignal(async () => {
        // If the service is not up yet, no request needs an answer. The end of the process rolls back a migration that is under
        // way.
        if (isUp) {
          service.drain();
          await sleep(config.shutdownDelaySeconds * 1_000);
          await closeListeners(graceMs);
          await Promise.race([service.close(), sleep(closeMs)]);
        }
        await bundler?.close();
        await embedded?.stop();
      });
      await service.start();
    } catch (error) {
      await closeListeners(0);
      await service.close();
      throw error;
    }
    isUp = true;
    bundler?.onServiceChange(async (fresh) => {
      const previous = service;
      service = await fresh.startInstance(options);
      await previous.close();
    });
    print(describeStart(config, { dataFolder: embedded?.folder, localClients }));
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

const sleep = (ms: number) => new Promise<void>((done) => setTimeout(done, ms));

function describeStart(
  config: Config,
  { dataFolder, localClients }: { dataFolder: string | undefined; localClients: LocalClient[] },
): string {
  if (config.production) return `Identity service ready: ${config.baseUrl}`;
  const demos = [...config.clients.values()].filter((client) => client.isDemo);
  const width = Math.max(...demoUsers.map(({ email }) => email.length));
  return [
    '',
    `Identity service, local mode: ${config.baseUrl}`,
    '',
    `  Log in        ${config.baseUrl}/login`,
    ...demos.map(({ name }) => `  Demo client   ${config.baseUrl}/demo/${name}`),
    `  Migration     ${config.baseUrl}/demo/legacy-marketplace`,
    ...(config.mail ? [] : [`  Emails        ${config.baseUrl}/dev/mail`]),
    ...localClients.map((client) => `  Your client   IDENTITY_URL=${spellIdentityUrl(config, client)}`),
    '',
    `  Password for all demo users: ${demoPassword}`,
    ...demoUsers.map(({ email, about }) => `    ${email.padEnd(width)}  ${about}`),
    '',
    ...(dataFolder
      ? [`  Data is kept in ${dataFolder}, by an embedded Postgres.`, '  Press Ctrl-C to stop everything.']
      : ['  Press Ctrl-C to stop.']),
    '',
  ].join('\n');
}

const toldInASentence = [ConfigError, EmbeddedPostgresError, ListenError, BuildError, MisuseError];

await start().catch((error) => {
  if (error instanceof MisuseError) endWith(2);
  if (toldInASentence.some((kind) => error instanceof kind)) exitWith(error.message);
  exitWith(
    explainRefusal(error) ??
      `The service could not start. ${error instanceof Error ? error.stack : String(error)}`,
  );
});
