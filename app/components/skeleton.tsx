/** Lines that stand for text until it is there. The thing that it stands in for is announced by its own words. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div aria-hidden="true">
      {Array.from({ length: lines }, (_, line) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines that are all the same
        <span key={line} className="skeleton" />
      ))}
    </div>
  );
}
