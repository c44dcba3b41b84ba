// The security headers of every answer; an endpoint that is stricter keeps its own.
import { Hono, type MiddlewareHandler } from 'hono';
import { NONCE, secureHeaders } from 'hono/secure-headers';
import type { Config } from '../settings/config.ts';

/**
 * In development the bundler's own scripts and socket are allowed. Only pages have scripts, and so a nonce: to make
 * one takes longer than all the rest.
 */
export function buildSecureHeaders(config: Config, hasScripts: boolean, isDevelopment = false) {
  const callbackOrigins = [...config.clients.values()].map((client) => new URL(client.callbackUrl).origin);
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: isDevelopment ? ["'self'", "'unsafe-inline'"] : ["'self'", ...(hasScripts ? [NONCE] : [])],
      styleSrc: isDevelopment ? ["'self'", "'unsafe-inline'"] : ["'self'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: isDevelopment ? ["'self'", 'ws:'] : ["'self'"],
      manifestSrc: ["'self'"],
      // The mails that local mode keeps.
      ...(config.mail ? {} : { frameSrc: ["'self'"] }),
      // Browsers apply it to the redirects after a form too, so login could not go on to a client without.
      formAction: ["'self'", ...new Set(callbackOrigins)],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    strictTransportSecurity: config.baseUrl.startsWith('https:') ? 'max-age=31536000' : false,
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    crossOriginOpenerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    // For browsers that are gone, and for links to elsewhere, which there are none of.
    xXssProtection: false,
    xDownloadOptions: false,
    xDnsPrefetchControl: false,
    permissionsPolicy: { camera: [], geolocation: [], microphone: [] },
    // An endpoint that is stricter than the rest stays so.
    overwrite: false,
  });
}

/** What such a middleware sets on each answer, for who sets it without one. */
export async function readHeaders(middleware: MiddlewareHandler): Promise<Record<string, string>> {
  const app = new Hono().use(middleware).get('/', (c) => c.body(null));
  return Object.fromEntries((await app.request('/')).headers);
}
