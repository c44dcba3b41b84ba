// The files of an application besides the samples of the kit for TypeScript. test/browser/kit-frameworks.test.ts puts both
// together.

/** What the site has beside the kit. */
export const siteFiles = {
  'package.json': '{ "type": "module" }',
  'database.js': `import pg from 'pg';
    export const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL });`,
  'pages.js': `export const home = (person) => '<p>Hello, ' + (person?.name ?? 'stranger') + '</p>';
    export const orders = (person, token) => \`<form method="post" action="/logout">Orders of \${person.name}
      <input type="hidden" name="token" value="\${token}" /><button>Log out</button></form>\`;`,
};

/** What a build of React Router's makes of the routes, with its own names. */
export const reactRouterServer = `
  import { serve } from '@hono/node-server';
  import { createElement } from 'react';
  import { renderToString } from 'react-dom/server';
  import { createRequestHandler, Outlet, ServerRouter, UNSAFE_withComponentProps as withProps } from 'react-router';
  import * as home from './home.js';
  import * as rest from './app/routes/$.js';
  import * as orders from './app/routes/orders.js';
  const root = { default: () => createElement('html', null, createElement(Outlet)) };
  const routes = {
    root: { id: 'root', path: '', module: root },
    home: { id: 'home', parentId: 'root', index: true, module: { ...home, default: withProps(home.default) } },
    orders: { id: 'orders', parentId: 'root', path: 'orders', module: { ...orders, default: withProps(orders.default) } },
    rest: { id: 'rest', parentId: 'root', path: '*', module: rest },
  };
  const ofRoute = ({ id, parentId, path, index, module }) =>
    ({ id, parentId, path, index, hasLoader: !!module.loader, hasAction: !!module.action, imports: [], module: '' });
  const manifest = Object.fromEntries(Object.entries(routes).map(([id, each]) => [id, ofRoute(each)]));
  const render = (request, status, headers, context) => {
    headers.set('content-type', 'text/html');
    return new Response(renderToString(createElement(ServerRouter, { context, url: request.url })), { status, headers });
  };
  const build = {
    entry: { module: { default: render } }, routes, future: {}, ssr: true, isSpaMode: false, prerender: [], basename: '/',
    assets: { entry: { imports: [], module: '' }, routes: manifest, url: '', version: '1' }, publicPath: '/',
    assetsBuildDirectory: '', routeDiscovery: { mode: 'initial', manifestPath: '/__manifest' },
  };
  serve({ fetch: createRequestHandler(build, 'production'), port: Number(process.env.PORT) });`;

export const reactRouterHome = `import { createElement } from 'react';
  import { identity } from './identity.js';
  export async function loader({ request }) {
    const first = await identity.loginSilently(request);
    if (first) throw first;
    return (await identity.currentPerson(request))?.name ?? 'stranger';
  }
  export const headers = () => ({ 'Cache-Control': 'no-store' });
  export default ({ loaderData }) => createElement('p', null, \`Hello, \${loaderData}\`);`;

/** What the site has beside the README's sample for Node's own server. */
export const nodeServer = `import { createServer } from 'node:http';
  import { identity } from './identity.js';
  import { home, orders } from './pages.js';
  ANYWHERE
  async function showHome(request) {
    const headers = { 'Content-Type': 'text/html', 'Cache-Control': 'no-store' };
    return (await identity.loginSilently(request)) ?? new Response(home(await identity.currentPerson(request)), { headers });
  }
  const answerAll = (request) => (new URL(request.url).pathname === '/' ? showHome(request) : answer(request));
  createServer(identity.createListener(answerAll, (error) => console.error(error))).listen(process.env.PORT);`;
