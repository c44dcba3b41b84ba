import { whole } from '../whole.ts';

type Point = { at: Date; logins: number; launches: number };

const width = 720;
const height = 200;
/** Leaves room for the times below the chart. */
const foot = 32;

const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
/** Writes hours and days in UTC as text. In a time element, app/enhance.js would change them to the reader's time zone. */
export const both = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

/** Logins and launches over time: a picture, and a table of the same numbers. */
export function LoginChart({ series, unit }: { series: Point[]; unit: 'hour' | 'day' }) {
  const top = Math.max(1, ...series.flatMap(({ logins, launches }) => [logins, launches]));
  const step = width / series.length;
  const bar = Math.min(24, step * 0.38);
  const heightOf = (count: number) => (count / top) * (height - foot - 20);
  const name = unit === 'hour' ? hours : days;
  const inTable = unit === 'hour' ? both : days;
  // A phone has room for six times.
  const every = Math.ceil(series.length / 6);
  const sum = (of: 'logins' | 'launches') => whole(series.reduce((all, point) => all + point[of], 0));
  return (
    <>
      <p className="course-key" aria-hidden="true">
        <span className="course-key-logins">Logins</span>{' '}
        <span className="course-key-launches">Launches</span>
      </p>
      <svg
        className="course"
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-labelledby="course-title course-about"
      >
        <title id="course-title">{`Logins and launches by the ${unit}`}</title>
        <desc id="course-about">
          {`About ${sum('logins')} logins and ${sum('launches')} launches. The most in one ${unit} is ${whole(top)}. The table below has all numbers.`}
        </desc>
        <text x={0} y={12} className="course-top">
          {whole(top)}
        </text>
        <line x1={0} x2={width} y1={height - foot} y2={height - foot} />
        {series.map(({ at, logins, launches }, place) => {
          const middle = (place + 0.5) * step;
          return (
            <g key={at.toISOString()}>
              <rect
                className="course-logins"
                data-logins={logins}
                x={middle - bar}
                y={height - foot - heightOf(logins)}
                width={bar}
                height={heightOf(logins)}
              />
              <rect
                className="course-launches"
                data-launches={launches}
                x={middle}
                y={height - foot - heightOf(launches)}
                width={bar}
                height={heightOf(launches)}
              />
              {place % every === 0 && (
                <text x={place && middle} y={height - 6} textAnchor={place ? 'middle' : 'start'}>
                  {name.format(at)}
                </text>
              )}
            </g>
          );
        })}
      </svg>
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
