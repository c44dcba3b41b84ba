// The start page. Its slug is empty.
export { default, handle, links, loader, meta } from './developers.$page.tsx';
