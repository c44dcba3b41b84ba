import { useActionData } from '@remix-run/react';
import type { Refused } from '../refused.ts';
import { useRootData } from '../root-data.ts';

/**
 * Finds the refused form that a page shows. It comes from the answer to the post, or was kept for this page (app/refused.ts).
 */
export function useRefused(): Refused | undefined {
  const answer = useActionData<{ refused?: Refused }>();
  const kept = useRootData()?.refused;
  return answer ? answer.refused : kept;
}

/**
 * Returns whether the form was refused because it needed a credential. The person has given the credential since, but has not
 * sent the form a second time.
 */
export const isNotDone = (refused: Refused | undefined) => refused?.code === 'confirm' && !refused.asks;

export const notDone = 'Not done yet. Check and confirm.';
