// Which words of a query the index is asked for. Each costs the more the more people have it, and a few tell people apart:
// what the index finds is compared with all words anyway.

const maxChosen = 4;
// Of so many, the rarest, each two are tried together.
const maxTried = 12;

/**
 * Chooses some of `count` words, which all have to be there, by the places of those that each person of a sample has: the word
 * that nobody has, or the two that the fewest have together, and more while each leaves fewer. Of words that are alike in this,
 * those in front.
 */
export function chooseRarest(count: number, sample: Iterable<readonly number[]>): number[] {
  const people = Array.from(sample, (places) => new Set(places));
  const all = Array.from({ length: count }, (_, place) => place);
  const withAll = (places: number[], among = people) =>
    among.filter((known) => places.every((place) => known.has(place)));

  const rarest = findLeast(all, (place) => withAll([place]).length, maxTried);
  const [first = 0] = rarest;
  let left = withAll([first]);
  if (left.length === 0 || count === 1) return [first];

  const pairs = rarest.flatMap((one, n) => rarest.slice(n + 1).map((other) => [one, other]));
  const [chosen = [first]] = findLeast(pairs, (pair) => withAll(pair).length, 1);
  left = withAll(chosen);
  while (chosen.length < maxChosen && left.length > 0) {
    const [next = first] = findLeast(all, (place) => withAll([place], left).length, 1);
    const leaves = withAll([next], left);
    if (leaves.length === left.length) break;
    chosen.push(next);
    left = leaves;
  }
  return chosen;
}

/** Those with the least size, the least first. */
function findLeast<T>(all: T[], sizeOf: (one: T) => number, limit: number): T[] {
  const sized = all.map((one) => ({ one, size: sizeOf(one) }));
  return sized
    .sort((a, b) => a.size - b.size)
    .slice(0, limit)
    .map(({ one }) => one);
}
