// Our paths that redirect to a client: a launch, and a logout that a client started (contract 9.191). No form redirects to such a
// path, because browsers apply the `form-action` of a page also to the redirects after its forms. So the form redirects to the
// page /go, and that page opens the path.
import { AppError } from '../../basics/errors.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { readOwnPath } from '../../web/requests.ts';
import { readLogoutTarget } from './logout-target.ts';

export type WayOn = {
  /** The path is only ASCII, because it goes into a header. */
  path: string;
  /** The path without what belongs to one attempt, because a client accepts a `state` only once. */
  again: string;
  title: string;
  isBack: boolean;
};

type Known = Pick<Dependencies, 'config' | 'clients'>;

export function findWayOn(known: Known, value: string | null | undefined): WayOn | undefined {
  const path = readOwnPath(value);
  if (path === undefined) return undefined;
  const url = new URL(path, known.config.baseUrl);
  if (url.pathname === '/logout') {
    const target = findTarget(known, url);
    return target && { path, again: path, title: target.title, isBack: true };
  }
  const [, name] = /^\/sso\/launch\/([^/]+)$/.exec(url.pathname) ?? [];
  const client = name === undefined ? undefined : known.clients.get(decodeName(name));
  return client && { path, again: `/sso/launch/${client.name}`, title: client.title, isBack: false };
}

/** Undefined if no client started the logout, or if the logout is refused. */
function findTarget({ clients }: Known, url: URL) {
  try {
    return readLogoutTarget(clients, { url: url.href });
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** Decodes the name as the router does, because a path may contain escapes. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
