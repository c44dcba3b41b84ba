// A client in TypeScript in the process of the test, with options, and with something in front of it.
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { examine, type Report } from '../../../clients/doctor/examine.ts';
import type { Target, Tools } from '../../../clients/doctor/target.ts';
import type { TestApp } from '../../support/app/app.ts';
import { type ClientOptions, createClients } from '../broken/typescript.ts';
import { settings, targetOf } from './clients.ts';

export type Handler = (request: IncomingMessage, response: ServerResponse) => unknown;

/** Passes requests from a socket to the service that `find` gives, if there is one. */
export const passOn =
  (find: () => Pick<TestApp, 'fetch'> | undefined): Handler =>
  async ({ url, method, headers }, response) => {
    const service = find();
    if (!service) return response.destroy();
    const request = new Request(`http://${headers.host}${url}`, {
      method,
      headers: headers as Record<string, string>,
    });
    const answer = await service.fetch(request, { address: '127.0.0.1' });
    return response.writeHead(answer.status, [...answer.headers].flat()).end(await answer.text());
  };

export type Setting = {
  options?: Partial<ClientOptions>;
  front?: (client: Handler) => Handler;
  secrets?: string[];
  at?: (target: Target) => Partial<Target>;
  name?: string;
  tools?: Partial<Tools>;
};

export function openInProcess() {
  const servers: Server[] = [];

  async function listen(handler: Handler): Promise<string> {
    const server = createServer(handler).listen(0, '127.0.0.1');
    servers.push(server);
    await new Promise((done) => server.once('listening', done));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  return {
    listen,
    async examineClient({ options, front, secrets, at, name = 'right', tools }: Setting): Promise<Report> {
      const client = createClients({ ...settings, ...options });
      const base = await listen(front?.(client) ?? client);
      const target = { ...targetOf(base, name), ...(secrets && { secrets }) };
      return examine({ ...target, ...at?.(target) }, { fetch, now: () => new Date(), ...tools });
    },
    async close() {
      for (const server of servers.splice(0)) {
        server.closeAllConnections();
        await new Promise((done) => server.close(done));
      }
    },
  };
}

export const sawOf = ({ findings }: Report) => findings.map(({ saw }) => saw).join('\n');
