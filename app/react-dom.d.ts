// The types of React 18 leave out this module, which is the browser build of a module that they describe.
declare module 'react-dom/server.browser' {
  export { renderToReadableStream, renderToStaticMarkup } from 'react-dom/server';
}
