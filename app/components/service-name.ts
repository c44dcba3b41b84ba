import type { MetaFunction } from '@remix-run/node';
import { useRootData } from '../root-data.ts';

// Used only if the loader of the root has failed, because then the page does not know the name.
const unknownName = 'Identity';

/** What people call this service (IDENTITY_NAME). */
export function ServiceName(): string {
  return useRootData()?.name ?? unknownName;
}

export function buildTitle(title: string, matches: Parameters<MetaFunction>[0]['matches']): string {
  const root = matches.find(({ id }) => id === 'root')?.data as { name?: string } | undefined;
  return `${title} · ${root?.name ?? unknownName}`;
}

/** Returns the `meta` of a page. A page that has sent an email gets `sentTitle`. */
export const titled =
  (title: string, sentTitle = title): MetaFunction =>
  ({ matches, location }) => {
    const isSent = new URLSearchParams(location.search).has('sent');
    return [{ title: buildTitle(isSent ? sentTitle : title, matches) }];
  };
