// The types of React 18 leave this module out; it is the browser build of what they do describe.
declare module 'react-dom/server.browser' {
  export { renderToReadableStream, renderToStaticMarkup } from 'react-dom/server';
}
