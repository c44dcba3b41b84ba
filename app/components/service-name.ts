// What people call this service (IDENTITY_NAME), which every page has from the root's loader.
import type { MetaFunction } from '@remix-run/node';
import { useRootData } from '../root-data.ts';

// Only if even the root could not be loaded.
export const unknownName = 'Identity';

export function ServiceName(): string {
  return useRootData()?.name ?? unknownName;
}

type Matches = Parameters<MetaFunction>[0]['matches'];

/** The title of a page, in the browser's tab. */
export function buildTitle(title: string, matches: Matches): string {
  const root = matches.find(({ id }) => id === 'root')?.data as { name?: string } | undefined;
  return `${title} · ${root?.name ?? unknownName}`;
}

/** The `meta` of a page with one title, or with another once it has sent an email. */
export const titled =
  (title: string, sentTitle = title): MetaFunction =>
  ({ matches, location }) => {
    const isSent = new URLSearchParams(location.search).has('sent');
    return [{ title: buildTitle(isSent ? sentTitle : title, matches) }];
  };
