import type { ComponentProps, ReactNode } from 'react';
import { Field } from '../field.tsx';
import { Notice } from '../notice.tsx';

type Asked = Record<string, string>;

export const isFiltered = ({ sort: _, ...filters }: Asked) =>
  Object.values(filters).some((value) => value !== '');

/** Returns the path of a list with the filters and the order (`sort`) of `asked`. */
export function pathOf(path: string, asked: Asked, before = ''): string {
  const set = Object.entries({ ...asked, before }).filter(([, value]) => value !== '');
  return set.length > 0 ? `${path}?${new URLSearchParams(set)}` : path;
}

type FiltersProps = { path: string; asked: Asked; button?: string; children: ReactNode };

export const Filters = ({ path, asked, button = 'Show', children }: FiltersProps) => (
  <search>
    <form method="get" action={path} className="card filters">
      {children}
      <div className="filter-buttons">
        <button type="submit">{button}</button>
        {isFiltered(asked) && <a href={path}>Clear</a>}
      </div>
    </form>
  </search>
);

/** The field that finds a person or a document, at `/admin/people`. */
export const FindField = (more: Partial<ComponentProps<typeof Field>>) => (
  <Field
    label="Find"
    hint="The beginning of a word of their name, account or address. Or the whole of: an earlier address, a user ID, an ID at the marketplace, a signup ID, or the number of an invoice or credit note."
    name="q"
    type="search"
    autoComplete="off"
    {...more}
  />
);

/** Shown if a search found more people than the list covers. `of` is what the page lists, such as "mails". */
export const MorePeople = ({ of }: { of: string }) => (
  <Notice kind="info">More than 50 people match, so some {of} may be missing: type more.</Notice>
);

type PagesProps = {
  path: string;
  asked: Asked;
  /** What the pages list, for screen readers, such as "mails". */
  of: string;
  next: string | null | undefined;
  isFirst: boolean;
  words?: [older: string, back: string];
};

export const Pages = ({
  path,
  asked,
  of,
  next,
  isFirst,
  words: [older, back] = ['Older', 'Back to newest'],
}: PagesProps) =>
  (next || !isFirst) && (
    <nav className="actions" aria-label={`Pages of ${of}`}>
      {next && (
        <a className="button secondary" href={pathOf(path, asked, next)}>
          {older}
        </a>
      )}
      {!isFirst && <a href={pathOf(path, asked)}>{back}</a>}
    </nav>
  );
