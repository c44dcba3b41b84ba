// The report of an import, about each line and about the whole file. A dry run and the import after it must print the same bytes.
import type { User } from '../../db/tables/users.ts';
import type { Applied, Kept } from './apply-profile.ts';

export type LineResult = {
  line: number;
  id?: string;
  kind: 'created' | 'linked' | 'updated' | 'unchanged' | 'refused';
  /** One of our codes, or words for what is wrong with the line. */
  reason?: string;
  changed?: Changed;
  kept?: Kept;
  /** The typed address of the user who had the link before and was deleted. */
  removed?: string;
};

/** The keys are the names of members in a payload. */
export type Changed = Record<string, { from: unknown; to: unknown }>;

export function listChanges({ before, after, kept }: Applied): { changed: Changed; kept: Kept } {
  const from = listMembers(before);
  const changed: Changed = {};
  for (const [member, to] of Object.entries(listMembers(after))) {
    if (JSON.stringify(from[member]) !== JSON.stringify(to)) changed[member] = { from: from[member], to };
  }
  return { changed, kept };
}

const listMembers = ({ email, emailVerifiedAt, name, account }: User): Record<string, unknown> => ({
  email,
  email_verified: emailVerifiedAt !== null,
  name,
  'account.name': account.name,
  'account.verified': account.verifiedAt !== null,
  'account.capabilities': [...account.capabilities].sort(),
});

/** Describes a line for people, as one line of text. Everything that somebody could have typed is quoted. */
export function describeLine({ line, id, kind, reason, changed, kept, removed }: LineResult): string {
  const what = [
    ...Object.entries(changed ?? {}).map(
      ([member, { from, to }]) => `${member} ${JSON.stringify(from)} → ${JSON.stringify(to)}`,
    ),
    ...Object.entries(kept ?? {}).map(([member, why]) => `${member} kept: ${why}`),
    ...(removed === undefined ? [] : [`removes the user with the typed address ${JSON.stringify(removed)}`]),
    ...(reason === undefined ? [] : [reason]),
  ].join(', ');
  return `${line}${id === undefined ? '' : ` ${id}`} ${kind}${what && `: ${what}`}`;
}

type Counts = Record<string, number>;

export type ImportSummary = Record<LineResult['kind'], number> & {
  refused_by: Counts;
  kept_by: Counts;
};

export function countLines(): { add: (results: LineResult[]) => void; summary: ImportSummary } {
  const kinds = { created: 0, linked: 0, updated: 0, unchanged: 0, refused: 0 };
  const summary: ImportSummary = { ...kinds, refused_by: {}, kept_by: {} };
  const increase = (counts: Counts, what: string) => {
    counts[what] = (counts[what] ?? 0) + 1;
  };
  const add = (results: LineResult[]) => {
    for (const { kind, reason, kept } of results) {
      summary[kind]++;
      if (reason !== undefined) increase(summary.refused_by, reason.replace(/:.*/, ''));
      for (const [member, why] of Object.entries(kept ?? {})) increase(summary.kept_by, `${member}: ${why}`);
    }
  };
  return { add, summary };
}

/** Describes the import for people. The order of the text does not depend on the order of the lines. */
export function describeSummary(summary: ImportSummary): string {
  const { created, linked, updated, unchanged, refused, refused_by, kept_by } = summary;
  const list = (counts: Counts) =>
    Object.keys(counts)
      .sort()
      .map((what) => `\n  ${counts[what]} ${what}`)
      .join('');
  return (
    `${created} created, ${linked} linked, ${updated} updated, ${unchanged} unchanged, ${refused} refused.` +
    (refused > 0 ? `\nRefused:${list(refused_by)}` : '') +
    (Object.keys(kept_by).length > 0 ? `\nKept as it is here:${list(kept_by)}` : '')
  );
}
