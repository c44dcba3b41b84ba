// The paths of ours that lead a browser on to a client (contract 9.191 and 9.192): a launch, and the logout that a client
// started. Only the page /go leads to them after a form, because browsers hold whatever redirects follow a form to the
// `form-action` of its page.
import { AppError } from '../../basics/errors.ts';
import type { Config } from '../../settings/config.ts';
import { readOwnPath } from '../../web/requests.ts';
import { readLogoutTarget } from './logout-target.ts';

export type WayOn = {
  /** Only ASCII, as a header takes it. */
  path: string;
  /** The same, without what belongs to one attempt: a client takes the `state` of an attempt once. */
  again: string;
  /** The client that the path leads to. */
  title: string;
  /** Back from a logout, rather than on to a launch. */
  isBack: boolean;
};

/** The way to a client that a path of ours is, or undefined if it is none. */
export function findWayOn(config: Config, value: string | null | undefined): WayOn | undefined {
  const path = readOwnPath(value);
  if (path === undefined) return undefined;
  const url = new URL(path, config.baseUrl);
  if (url.pathname === '/logout') {
    const target = findTarget(config, url);
    return target && { path, again: path, title: target.title, isBack: true };
  }
  const [, name] = /^\/sso\/launch\/([^/]+)$/.exec(url.pathname) ?? [];
  const client = name === undefined ? undefined : config.clients.get(decodeName(name));
  return client && { path, again: `/sso/launch/${client.name}`, title: client.title, isBack: false };
}

/** Undefined also for a logout that is refused. */
function findTarget(config: Config, url: URL) {
  try {
    return readLogoutTarget(config, { url: url.href });
  } catch (error) {
    if (error instanceof AppError) return undefined;
    throw error;
  }
}

/** The name as the router reads it: a path may spell it with escapes. */
function decodeName(name: string): string {
  try {
    return decodeURIComponent(name);
  } catch {
    return name;
  }
}
