// The process: settings → database → service → listen → drain. On Node and on Deno.

import { EmbeddedPostgresError } from '../db/embedded/files.ts';
import { startEmbeddedPostgres } from '../db/embedded/server.ts';
import { isDatabaseAway } from '../db/postgres/client.ts';
import { demoPassword, demoUsers } from './demo/demo-users.ts';
import { BuildError, loadPages, serveBuiltFiles } from './runtime/build.ts';
import { dataFolder } from './runtime/files.ts';
import { listen } from './runtime/listen.ts';
import { ListenError } from './runtime/listener.ts';
import { createLog, environment, exitWith, onStopSignal, print, words } from './runtime/process.ts';
import { startService } from './service.ts';
import { type Config, readConfig } from './settings/config.ts';
import { ConfigError } from './settings/reader.ts';

// A balancer that asks /readyz every few seconds has noticed by then.
const graceMs = 10_000;

async function start(): Promise<void> {
  const config = readConfig(environment);
  const log = createLog();
  const isDevelopment = words.includes('--dev') && !config.production;
  const bundler = isDevelopment ? await (await import('./runtime/bundler.ts')).startBundler() : undefined;
  const pages = bundler?.pages ?? (await loadPages());
  const embedded = config.databaseUrl
    ? undefined
    : await startEmbeddedPostgres(config.embeddedDatabaseFolder ?? dataFolder);
  const options = {
    config,
    databaseUrl: config.databaseUrl ?? embedded?.url ?? '',
    log,
    shell: { pages, staticFiles: bundler?.staticFiles ?? serveBuiltFiles(), isDevelopment },
  };
  try {
    let service = await startService(options);
    bundler?.onServiceChange(async (fresh) => {
      const previous = service;
      service = await fresh.startService(options);
      await previous.close();
    });
    const listener = await listen((request, peer) => service.fetch(request, peer), config).catch(
      async (error) => {
        await service.close();
        throw error;
      },
    );
    onStopSignal(async () => {
      service.drain();
      await listener.close(graceMs);
      await service.close();
      await bundler?.close();
      await embedded?.stop();
    });
    print(describeStart(config, embedded?.folder));
  } catch (error) {
    await embedded?.stop();
    throw error;
  }
}

function describeStart(config: Config, dataFolder: string | undefined): string {
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

const toldInASentence = [ConfigError, EmbeddedPostgresError, ListenError, BuildError];

await start().catch((error) => {
  if (toldInASentence.some((kind) => error instanceof kind)) exitWith(error.message);
  if (isDatabaseAway(error))
    exitWith(`Cannot reach the database (${error.code ?? error.message}). Check that it is running.`);
  exitWith(`The service could not start. ${error instanceof Error ? error.stack : String(error)}`);
});
