// The headings of a page, and what is wrong with their order (contract 9.225).

/** One `h1`, which comes first, and no heading more than one level below the one before. */
export function findHeadingFaults(html: string): string[] {
  const levels = [...html.matchAll(/<h([1-6])[\s>]/g)].map(([, level]) => Number(level));
  const gaps = levels.flatMap((level, at) => {
    const before = levels[at - 1] ?? 0;
    return level > before + 1 ? [`h${level} after h${before}`] : [];
  });
  const count = levels.filter((level) => level === 1).length;
  return count === 1 ? gaps : [`${count} h1`, ...gaps];
}
