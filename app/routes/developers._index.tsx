// The start page, whose slug is empty.
export { default, handle, links, loader, meta } from './developers.$page.tsx';
