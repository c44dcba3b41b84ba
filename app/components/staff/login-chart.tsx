import { whole } from '../whole.ts';
import { BarChart, both, days } from './bar-chart.tsx';

type Point = { at: Date; logins: number; launches: number };

/** Logins and launches over time: a picture of each, and a table of the same numbers. */
export function LoginChart({ series, unit }: { series: Point[]; unit: 'hour' | 'day' }) {
  const inTable = unit === 'hour' ? both : days;
  return (
    <>
      <div className="courses">
        <BarChart
          name="course-logins"
          title={`Logins by the ${unit}`}
          words={['login', 'logins']}
          unit={unit}
          bars={series.map(({ at, logins }) => ({ at, count: logins }))}
        />
        <BarChart
          name="course-launches"
          title={`Launches by the ${unit}`}
          words={['launch', 'launches']}
          unit={unit}
          bars={series.map(({ at, launches }) => ({ at, count: launches }))}
        />
      </div>
      <details>
        <summary>{`The numbers of each ${unit}`}</summary>
        <table className="counts course-table">
          <thead>
            <tr>
              <th scope="col">From, in UTC</th>
              <th scope="col">Logins</th>
              <th scope="col">Launches</th>
            </tr>
          </thead>
          <tbody>
            {series.toReversed().map(({ at, logins, launches }) => (
              <tr key={at.toISOString()} data-at={at.toISOString()}>
                <th scope="row">{inTable.format(at)}</th>
                <td>{whole(logins)}</td>
                <td>{whole(launches)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </>
  );
}
