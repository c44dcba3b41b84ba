// What every page has from the root's loader.
import { useRouteLoaderData } from '@remix-run/react';
import type { Site } from '../server/instance/backend.ts';
import type { Refused } from './refused.ts';

export type RootData = Site['frame'] & {
  /** Of whom is logged in. */
  email: string | undefined;
  isStaff: boolean | undefined;
  refused: Refused | undefined;
  /** Something is to be paid by now. */
  hasOverdue: boolean;
};

/** Undefined if even the root could not be loaded. */
export const useRootData = () => useRouteLoaderData<RootData>('root');
