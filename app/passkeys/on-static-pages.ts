// The only script of a page that has no other.
import { enhance } from './ceremony.ts';

for (const part of document.querySelectorAll<HTMLElement>('[data-passkey]')) enhance(part);
