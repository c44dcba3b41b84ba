import { useRouteLoaderData } from '@remix-run/react';
import type { Site } from '../server/instance/backend.ts';
import type { Refused } from './refused.ts';

/** What every page has from the root's loader. */
export type RootData = Site['frame'] & {
  /** The email address of the person who is logged in. */
  email: string | undefined;
  isStaff: boolean | undefined;
  refused: Refused | undefined;
  hasOverdue: boolean;
};

/** Returns undefined if the loader of the root has failed. */
export const useRootData = () => useRouteLoaderData<RootData>('root');
