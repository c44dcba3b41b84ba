// The types of React 18 leave this module out; it is the browser build of a module that the types describe.
declare module 'react-dom/server.browser' {
  export { renderToReadableStream, renderToStaticMarkup } from 'react-dom/server';
}
