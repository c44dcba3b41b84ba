// Options that both of Remix's compilers know; vite.config.ts hands them to the Vite plugin.
/** @type {import('@remix-run/dev').AppConfig} */
export default {
  appDirectory: 'app',
  future: {
    v3_fetcherPersist: true,
    v3_relativeSplatPath: true,
    v3_throwAbortReason: true,
    v3_singleFetch: true,
    // No page asks for routes, because no script of Remix runs in the browser.
    v3_lazyRouteDiscovery: false,
  },
};
