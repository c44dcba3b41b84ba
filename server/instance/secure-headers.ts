// The security headers of all answers. An endpoint that is stricter keeps its own headers.
import { Hono, type MiddlewareHandler } from 'hono';
import { secureHeaders } from 'hono/secure-headers';
import type { Config } from '../settings/config.ts';

/** In development, the headers allow the bundler's own scripts and socket. */
export function buildSecureHeaders(config: Config, isDevelopment = false) {
  return secureHeaders({
    contentSecurityPolicy: {
      defaultSrc: ["'none'"],
      scriptSrc: isDevelopment ? ["'self'", "'unsafe-inline'"] : ["'self'"],
      styleSrc: isDevelopment ? ["'self'", "'unsafe-inline'"] : ["'self'"],
      imgSrc: ["'self'", 'data:'],
      fontSrc: ["'self'"],
      connectSrc: isDevelopment ? ["'self'", 'ws:'] : ["'self'"],
      manifestSrc: ["'self'"],
      // Local mode shows the kept mails in frames.
      ...(config.mail ? {} : { frameSrc: ["'self'"] }),
      // Browsers also apply `form-action` to redirects after a form. So no form redirects to a client. The form redirects to
      // the page /go, which opens the client.
      formAction: ["'self'"],
      baseUri: ["'none'"],
      frameAncestors: ["'none'"],
    },
    strictTransportSecurity: config.baseUrl.startsWith('https:') ? 'max-age=31536000' : false,
    xFrameOptions: 'DENY',
    referrerPolicy: 'same-origin',
    crossOriginOpenerPolicy: 'same-origin',
    crossOriginResourcePolicy: 'same-origin',
    // Left out: headers for browsers that nobody uses any more, and headers for links to other sites, which we do not have.
    xXssProtection: false,
    xDownloadOptions: false,
    xDnsPrefetchControl: false,
    permissionsPolicy: { camera: [], geolocation: [], microphone: [] },
    overwrite: false,
  });
}

/** Returns the headers that the middleware sets, for code that does not use the middleware. */
export async function readHeaders(middleware: MiddlewareHandler): Promise<Record<string, string>> {
  const app = new Hono().use(middleware).get('/', (c) => c.body(null));
  return Object.fromEntries((await app.request('/')).headers);
}
