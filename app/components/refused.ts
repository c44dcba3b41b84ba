import { useActionData } from '@remix-run/react';
import type { Refused } from '../refused.ts';
import { useRootData } from '../root-data.ts';

/** The refused form that a page shows. It comes from the answer to the post, or was kept for the page (app/refused.ts). */
export function useRefused(): Refused | undefined {
  const answer = useActionData<{ refused?: Refused }>();
  const kept = useRootData()?.refused;
  return answer ? answer.refused : kept;
}

/** The form waited for a credential. The person has given a credential since, but has not sent the form again. */
export const isNotDone = (refused: Refused | undefined) => refused?.code === 'confirm' && !refused.asks;

export const notDone = 'Not done yet. Check and confirm.';
