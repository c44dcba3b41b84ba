import type { ReactNode } from 'react';

type Asked = Record<string, string>;

export const isFiltered = (asked: Asked) => Object.values(asked).some((value) => value !== '');

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

type PagesProps = {
  path: string;
  asked: Asked;
  /** What the pages list, for screen readers. */
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
