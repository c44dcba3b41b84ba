// The start page: the one without a name.
export { default, handle, links, loader, meta } from './developers.$page.tsx';
