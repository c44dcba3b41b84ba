// The clients in TypeScript behind https, with a certificate that may have one fault.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../../support/machines/certificate.ts';
import { createClients } from '../broken/typescript.ts';
import { settings } from './clients.ts';

const day = 86_400_000;

export type HttpsOptions = {
  /** How long the certificate is valid. */
  days?: number;
  name?: string;
  /** Whether the clients know that they are behind https. */
  isHttps?: boolean;
  /** Whether the server hangs up on a host that is not its own. */
  hangsUpOnOthers?: boolean;
};

/** `certificateFile` is the certificate that a process has to trust. */
export async function startHttpsClients({
  days = 90,
  name = 'localhost',
  isHttps = true,
  hangsUpOnOthers = false,
}: HttpsOptions = {}) {
  const from = new Date(Date.now() - 100 * day);
  const certificate = makeCertificate(name, from, new Date(Date.now() + days * day));
  const folder = await mkdtemp(join(tmpdir(), 'identity-doctor-'));
  const certificateFile = join(folder, 'certificate.pem');
  await writeFile(certificateFile, certificate.cert);
  const handle = createClients({ ...settings, issuer: 'http://localhost:3000', isHttps });
  const server = createServer(certificate, (request, response) =>
    hangsUpOnOthers && !request.headers.host?.startsWith('localhost:')
      ? request.socket.destroy()
      : handle(request, response),
  ).listen(0, 'localhost');
  await new Promise((done) => server.once('listening', done));
  return {
    base: `https://localhost:${(server.address() as AddressInfo).port}`,
    certificateFile,
    async stop() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
      await rm(folder, { recursive: true, force: true });
    },
  };
}
