// A request for every route and method of the service.
import { loadPages } from '../../../server/instance/build.ts';
import { sign } from '../../../server/sso/hmac.ts';
import { buildPayment } from '../billing/money.ts';
import { buildSignup, signMessage } from '../crm/crm.ts';
import { buildHandOff } from '../marketplace/marketplace.ts';
import type { TestRequest } from '../run/names.ts';
import type { TestApp } from './app.ts';

const token = 'A'.repeat(43);
const pendingId = '0190f5a0-0000-7000-8000-000000000000';
/** Cookies that name a pending hand-off and a pending login. Only the database can tell that neither exists. */
export const pendingCookie = `identity_pending_${pendingId}=${token}; identity_pending_login=${token}`;

const values: Record<string, string> = {
  ':client': 'marketplace',
  ':number': '1',
  ':code': 'unavailable',
  ':id': pendingId,
  ':file': 'none.css',
  ':page': 'integrate',
  ':tab': 'rights',
  '*': 'profile.get',
};
const queries: Record<string, string> = {
  '/continue': `?id=${pendingId}`,
  '/set-password': `?token=${token}`,
  '/verify-email/confirm': `?token=${token}`,
  '/signup/confirm': `?token=${token}`,
  '/profile/email/confirm': `?token=${token}`,
  '/take-back': `?token=${token}`,
  '/new-address': `?token=${token}`,
  '/stop-new-address': `?token=${token}`,
  '/invoice-email/confirm': `?token=${token}`,
  '/go': '?next=%2Fsso%2Flaunch%2Fmarketplace',
};
const forms: Record<string, Record<string, string>> = {
  '/login': { email: 'customer@example.test', password: 'local demo password' },
  '/profile': { intent: 'names', name: 'Half Done', accountName: 'Half Done' },
  '/profile/security': { intent: 'end-others' },
  '/profile/delete': { intent: 'keep' },
  '/profile/billing': { intent: 'details', company: 'Half Done' },
  '/profile/passkeys': { intent: 'rename', id: pendingId, name: 'Half Done' },
  '/passkeys/options': { purpose: 'login' },
  '/login/code': { code: '123456' },
  '/profile/authenticator': { intent: 'set-up' },
  '/profile/authenticator/set-up': { code: '123456' },
  '/profile/passkeys/offer': { intent: 'never' },
  '/forgot-password': { email: 'customer@example.test' },
  '/set-password': { newPassword: 'half done, half done' },
  '/signup': { name: 'Half Done', email: 'half-done@example.test' },
  '/signup/confirm': { name: 'Half Done', newPassword: 'half done, half done' },
  '/profile/email': { email: 'half-done@example.test' },
  '/take-back': { newPassword: 'half done, half done' },
  '/invitation': { name: 'Half Done', newPassword: 'half done, half done' },
  '/new-address': { newPassword: 'half done, half done' },
  '/admin/invoices/1': { intent: 'credit', why: 'half done', seen: 'x' },
  '/admin/billing/unallocated': { intent: 'paid-back', payment: 'none', why: 'half done', seen: 'x' },
  '/admin/billing/import': { accept: 'all', why: 'half done' },
  '/admin/clients': { intent: 'add-client', client: 'half_done', why: 'half done', seen: 'x' },
  '/admin/clients/marketplace': { intent: 'turn-client-off', why: 'half done', seen: 'x' },
  '/admin/mails': { intent: 'retry', id: pendingId, why: 'half done', seen: 'x' },
  '/admin/invitations': { intent: 'withdraw', id: pendingId, why: 'half done', seen: 'x' },
  [`/admin/people/${pendingId}`]: { intent: 'suspend', why: 'half done', seen: 'x' },
  [`/admin/people/${pendingId}/rights`]: { intent: 'suspend', why: 'half done', seen: 'x' },
  '/admin/billing/settings': { intent: 'stop', why: 'half done', seen: 'x' },
  '/admin/files': { file: 'people.csv' },
};

/** Routes that answer without reading data. */
const needNothing = new Set([
  'GET /.well-known/change-password',
  'HEAD /.well-known/change-password',
  'GET /.well-known/passkey-endpoints',
  'HEAD /.well-known/passkey-endpoints',
  'GET /.well-known/security.txt',
  'HEAD /.well-known/security.txt',
  'GET /favicon.ico',
  'HEAD /favicon.ico',
  'GET /robots.txt',
  'HEAD /robots.txt',
  'GET /brand/none.css',
  'HEAD /brand/none.css',
  ...[
    '',
    '/integrate',
    '/api',
    '/sso-vectors.json',
    '/llms.txt',
    '/identity-client-typescript.zip',
    '/identity-client-php.zip',
    '/identity-client-python.zip',
    '/identity-login-wordpress.zip',
  ].flatMap((part) => [`GET /developers${part}`, `HEAD /developers${part}`]),
  // These routes answer without reading data, because no row of the kind `openid` is on.
  ...['/oauth/authorize', '/oauth/logout', '/oauth/userinfo'].flatMap((path) =>
    ['GET', 'HEAD', 'POST'].map((method) => `${method} ${path}`),
  ),
  'POST /oauth/token',
  ...['/oauth/jwks', '/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'].flatMap(
    (path) => [`GET ${path}`, `HEAD ${path}`],
  ),
  'GET /openapi.json',
  'HEAD /openapi.json',
  'GET /healthz',
  'HEAD /healthz',
  'GET /',
  'HEAD /',
  'HEAD /profile/data.json',
  'HEAD /sso/launch/marketplace',
  'HEAD /sso/marketplace/callback',
  'HEAD /trpc/profile.get',
  'GET /demo/marketplace/login',
  'HEAD /demo/marketplace/login',
  'GET /demo/marketplace/events',
  'HEAD /demo/marketplace/events',
  'POST /demo/marketplace/events',
  'POST /demo/marketplace',
  'POST /demo/legacy-marketplace',
]);

export type RouteRequest = { name: string; request: TestRequest; needsData: boolean };

export async function listEveryRoute(app: Pick<TestApp, 'config'>): Promise<RouteRequest[]> {
  const { routes } = await loadPages();
  const health = ['/healthz', '/readyz'].map((path) => ({ path, methods: ['GET', 'HEAD'] }));
  const all: RouteRequest[] = [];
  for (const { path: pattern, methods } of [...health, ...routes]) {
    const path = pattern.replace(/:\w+|\*$/g, (part) => values[part] ?? '');
    for (const method of methods) {
      const name = `${method} ${path}`;
      all.push({ name, request: await buildRequest(app, method, path), needsData: !needNothing.has(name) });
    }
  }
  return all;
}

async function buildRequest(
  app: Pick<TestApp, 'config'>,
  method: string,
  path: string,
): Promise<TestRequest> {
  if (path === '/sso/marketplace/callback')
    return [await buildHandOff(app as TestApp, { id: 'away' }), { method }];
  if (path === '/integrations/crm/contracts' || path === '/sso/events') {
    const secret = app.config.clients.get('crm_app')?.secrets[0] ?? '';
    const bearer = await sign(secret, 'identity events v1 crm_app');
    return [path, { method, headers: { authorization: `Bearer ${bearer}` } }];
  }
  if (path === '/integrations/crm/signups') {
    const body = JSON.stringify(buildSignup('away'));
    const headers = signMessage(app.config.crmSignupsSecrets?.[0] ?? '', body);
    return [path, { method, body, headers }];
  }
  if (path === '/integrations/payments') {
    const body = JSON.stringify(buildPayment(100));
    const headers = signMessage(app.config.paymentsSecrets?.[0] ?? '', body);
    return [path, { method, body, headers }];
  }
  if (path === '/integrations/payments/invoices')
    return [path, { method, headers: signMessage(app.config.paymentsSecrets?.[0] ?? '', '') }];
  if (method !== 'POST') return [path + (queries[path] ?? ''), { method }];
  if (path.startsWith('/trpc/')) return ['/trpc/profile.update', { json: { json: { name: 'Half Done' } } }];
  return [path + (queries[path] ?? ''), { form: forms[path] ?? { is: 'empty' } }];
}
