// What the doctor notes while it examines a client.
import { type FindingId, type Group, groupOf, remedyOf } from './findings.ts';

export type Finding = {
  id: FindingId;
  group: Group;
  /** One sentence: what was sent, and what came back. */
  saw: string;
  remedy: string;
  /** The launch id of the hand-off. */
  launchId: string | undefined;
};

/** A finding that could not be tested. */
export type Unseen = { id: FindingId; why: string };

type Noted = {
  saw: string;
  remedy?: string | undefined;
  launchId?: string | undefined;
  /** Findings that would explain this finding. If the doctor notes one of them, this finding is left out. */
  unless?: FindingId | FindingId[] | undefined;
};

export type Notes = ReturnType<typeof openNotes>;

/** Why the doctor could not make a test that needs a page with the person's name. */
export const nobodyNamed = 'No page that was seen says who is logged in.';

/** Escapes control characters. Some of the text comes from the client, and a terminal would obey them. */
export const makePrintable = (text: string) => text.replace(/\p{Cc}/gu, '�');

export function openNotes() {
  const found = new Map<FindingId, Noted[]>();
  const unseen = new Map<FindingId, string>();
  let doubt: string | undefined;

  return {
    find(id: FindingId, noted: Noted): void {
      found.set(id, [...(found.get(id) ?? []), noted]);
    },
    miss(ids: FindingId | readonly FindingId[], why: string): void {
      for (const id of [ids].flat()) if (!unseen.has(id)) unseen.set(id, makePrintable(why));
    },
    /** Says that the doctor could see too little to call the client right. */
    doubt(why: string): void {
      doubt ??= makePrintable(why);
    },
    findDoubt: () => doubt,
    hasFound: (id: FindingId) => found.has(id),
    /**
     * Lists each finding once, with its first note that no other finding explains. If other findings explain all its notes,
     * the finding is left out.
     */
    listFindings(): Finding[] {
      return [...found].flatMap(([id, all]) => {
        const noted = all.find(({ unless = [] }) => [unless].flat().every((cause) => !found.has(cause)));
        if (!noted) return [];
        const { saw, remedy = remedyOf(id), launchId } = noted;
        return [{ id, group: groupOf(id), saw: makePrintable(saw), remedy, launchId }];
      });
    },
    listUnseen: (): Unseen[] =>
      [...unseen].filter(([id]) => !found.has(id)).map(([id, why]) => ({ id, why })),
  };
}
