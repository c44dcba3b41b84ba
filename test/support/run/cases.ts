// Refusals as data: each case changes one genuine message at one place.

// biome-ignore lint/suspicious/noExplicitAny: these tests break the shape on purpose
export type Wire = Record<string, any>;

/** Sets the member at a path such as `user.name`. Undefined removes it. */
export function setMember(message: Wire, path: string, value: unknown): void {
  const names = path.split('.');
  const last = names.pop() ?? '';
  const parent = names.reduce((at, name) => at[name], message);
  if (value === undefined) delete parent[last];
  else parent[last] = value;
}

export const nest = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);

export type Refused<Change> = Change & { why: string; status: number; code: string };

/** Turns changes into cases with the same status and code. The key of each change is the reason for its refusal. */
export const listRefused = <Change>(
  status: number,
  code: string,
  changes: Record<string, Change>,
): Refused<Change>[] => Object.entries(changes).map(([why, change]) => ({ why, status, code, ...change }));
