import { useActionData } from '@remix-run/react';
import type { Refused } from '../refused.ts';
import { useRootData } from '../root-data.ts';

/** The refused form that a page shows: from the answer to the post, or kept for the page (app/refused.ts). */
export function useRefused(): Refused | undefined {
  const answer = useActionData<{ refused?: Refused }>();
  const kept = useRootData()?.refused;
  return answer ? answer.refused : kept;
}

/** The form waited for a credential. The person has given one since, but without sending the form again. */
export const isNotDone = (refused: Refused | undefined) => refused?.code === 'confirm' && !refused.asks;

export const notDone = 'Not done yet. Check and confirm.';
