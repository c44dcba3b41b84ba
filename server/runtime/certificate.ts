// Reads the certificate of a server, and checks whether browsers would accept it.
import { isIP } from 'node:net';
import { connect, type TLSSocket } from 'node:tls';
import type { Certificate } from '../../clients/doctor/target.ts';

const answerWithinMs = 10_000;

const faults: Record<string, string> = {
  CERT_NOT_YET_VALID: 'is not valid yet',
  ERR_TLS_CERT_ALTNAME_INVALID: 'is for another name',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'is signed by itself, and by no authority',
  SELF_SIGNED_CERT_IN_CHAIN: 'is signed by an authority that browsers do not know',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'comes without those between it and the authority',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'comes without those between it and the authority',
};

/** Returns undefined if nothing answers at `url`. */
export function readCertificate(url: URL): Promise<Certificate | undefined> {
  const host = url.hostname.replace(/^\[|\]$/g, '');
  return new Promise((done) => {
    const socket = connect({
      host,
      port: Number(url.port || 443),
      ...(isIP(host) === 0 && { servername: host }),
      // The certificate is checked below. Nothing is sent on this connection.
      rejectUnauthorized: false,
    });
    const end = (certificate: Certificate | undefined) => {
      clearTimeout(timer);
      socket.destroy();
      done(certificate);
    };
    // Limits the time of the whole exchange. The socket's own timeout would start again with each byte.
    const timer = setTimeout(() => end(undefined), answerWithinMs);
    socket.once('secureConnect', () => end(judge(socket)));
    socket.once('error', ({ code = '' }: NodeJS.ErrnoException) =>
      end(/^E[A-Z]+$/.test(code) ? undefined : { validUntil: undefined, fault: `cannot be read (${code})` }),
    );
  });
}

function judge(socket: TLSSocket): Certificate {
  const { valid_to: until } = socket.getPeerCertificate();
  const validUntil = until ? new Date(until) : undefined;
  const code = String(socket.authorizationError ?? '');
  if (socket.authorized || code === '') return { validUntil, fault: undefined };
  const expired = `expired on ${validUntil?.toISOString().slice(0, 10)}`;
  return {
    validUntil,
    fault: code === 'CERT_HAS_EXPIRED' ? expired : (faults[code] ?? `is refused (${code})`),
  };
}
