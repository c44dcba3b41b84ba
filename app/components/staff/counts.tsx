import { whole } from '../whole.ts';

type Count = { key: string; words: string; count: number };

/** The heading of the column with the words. */
export function Counts({ head, counts, nothing }: { head: string; counts: Count[]; nothing: string }) {
  if (counts.length === 0) return <p className="hint">{nothing}</p>;
  return (
    <table className="counts">
      <thead>
        <tr>
          <th scope="col">{head}</th>
          <th scope="col">Times</th>
        </tr>
      </thead>
      <tbody>
        {counts.map(({ key, words, count }) => (
          <tr key={key} data-key={key}>
            <th scope="row">{words}</th>
            <td>{whole(count)}</td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
