// Options that both of Remix's compilers know; vite.config.ts hands them to the Vite plugin.
/** @type {import('@remix-run/dev').AppConfig} */
export default {
  appDirectory: 'app',
  future: {
    v3_fetcherPersist: true,
    v3_relativeSplatPath: true,
    v3_throwAbortReason: true,
    v3_singleFetch: true,
    // The whole route list is a kilobyte; asking for it piece by piece would be another public endpoint.
    v3_lazyRouteDiscovery: false,
  },
};
