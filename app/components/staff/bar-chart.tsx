import { whole } from '../whole.ts';

type Bar = { at: Date; count: number };

type BarChartProps = {
  /** The ids of the texts in the chart begin with this name. */
  name: string;
  title: string;
  /** What is counted, in the singular and in the plural. */
  words: [one: string, several: string];
  unit: 'hour' | 'day';
  bars: Bar[];
};

const hours = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' });
const weekdays = new Intl.DateTimeFormat('en-GB', { weekday: 'short', timeZone: 'UTC' });
export const days = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', timeZone: 'UTC' });
/**
 * Writes hours and days as text in UTC. If they were in a time element, app/enhance.js would change them to the reader's time
 * zone.
 */
export const both = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  timeZone: 'UTC',
});

const height = 100;

/** The labels of the axis are text beside the picture, so that they grow if the reader enlarges text. */
export function BarChart({ name, title, words: [one, several], unit, bars }: BarChartProps) {
  const most = Math.max(...bars.map(({ count }) => count));
  const marks = listMarks(most);
  const top = marks[0] ?? 1;
  const say = (count: number) => (count === 0 ? '0' : `${whole(count)} ${count === 1 ? one : several}`);
  const sum = bars.reduce((all, { count }) => all + count, 0);
  const time = unit === 'hour' ? hours : bars.length > 7 ? days : weekdays;
  const end = unit === 'hour' ? both : days;
  // How many bars share one label. A label begins below its bar, and is as wide as several bars.
  const every = unit === 'hour' ? 6 : bars.length > 7 ? 10 : 1;
  return (
    <div className="course">
      <p className="course-title" aria-hidden="true">
        {title}
      </p>
      <div className="course-plot">
        <p className="course-scale" aria-hidden="true">
          {marks.map((count) => (
            <span key={count}>{say(count)}</span>
          ))}
        </p>
        <svg
          viewBox={`0 0 ${bars.length} ${height}`}
          preserveAspectRatio="none"
          role="img"
          aria-labelledby={`${name}-title ${name}-about`}
        >
          <title id={`${name}-title`}>{title}</title>
          <desc id={`${name}-about`}>
            {`About ${sum === 0 ? `no ${several}` : say(sum)}. The most in one ${unit} is ${whole(most)}. The table below has all numbers.`}
          </desc>
          {marks.map((count) => (
            <line key={count} x1={0} x2={bars.length} y1={yOf(count, top)} y2={yOf(count, top)} />
          ))}
          {bars.map(({ at, count }, place) => (
            <rect
              key={at.toISOString()}
              data-count={count}
              x={place + 0.15}
              y={yOf(count, top)}
              width={0.7}
              height={height - yOf(count, top)}
            />
          ))}
        </svg>
        <p className="course-times" aria-hidden="true">
          {bars
            .filter((_, place) => place % every === 0)
            .map(({ at }) => (
              <span key={at.toISOString()}>{time.format(at)}</span>
            ))}
        </p>
        <p className="course-ends" aria-hidden="true">
          {[bars[0], bars.at(-1)].map(
            (bar) => bar && <span key={bar.at.toISOString()}>{end.format(bar.at)}</span>,
          )}
        </p>
      </div>
    </div>
  );
}

const yOf = (count: number, top: number) => height - (count / top) * height;

/** Round numbers from the top of the axis down to 0, at most four of them above 0. */
function listMarks(most: number): number[] {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, most / 4)));
  const step = [1, 2, 5, 10].map((times) => times * power).find((each) => each * 4 >= most) ?? most;
  const count = Math.max(1, Math.ceil(most / step));
  return Array.from({ length: count + 1 }, (_, at) => (count - at) * step);
}
