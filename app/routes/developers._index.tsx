// The start page, which has no name.
export { default, handle, links, loader, meta } from './developers.$page.tsx';
