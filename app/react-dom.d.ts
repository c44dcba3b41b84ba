// React 18 has types for `react-dom/server`, but none for `react-dom/server.browser`, which is its build for browsers.
declare module 'react-dom/server.browser' {
  export { renderToReadableStream, renderToStaticMarkup } from 'react-dom/server';
}
