// The refused form that a page shows: as the answer to the post, or kept for the page (app/refused.ts).
import { useActionData, useRouteLoaderData } from '@remix-run/react';
import type { Refused } from '../refused.ts';
import type { loader } from '../root.tsx';

export function useRefused(): Refused | undefined {
  const answer = useActionData<{ refused?: Refused }>();
  const kept = useRouteLoaderData<typeof loader>('root')?.refused;
  return answer ? answer.refused : (kept ?? undefined);
}
