import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { Badge } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Name, PersonLink } from './words.tsx';

type Listed = Awaited<ReturnType<Procedures['admin']['audit']['list']>>;
type Event = Listed['events'][number];

type Where = Pick<Event, 'device' | 'place' | 'address'>;

/** `isAboutOne`: the whole list is about one person, so the row does not name them. */
export function EventRow({
  event,
  same = [],
  known,
  isAboutOne = false,
}: {
  event: Event;
  /** Equal events right before it, the newest first. */
  same?: Event[];
  /** The people whose ids are in the event. */
  known: Listed['people'];
  isAboutOne?: boolean;
}) {
  const { at, type, what, userId, actorId, why, details } = event;
  const all = [event, ...same];
  return (
    <li data-event={type}>
      <div>
        <strong>{what}</strong> {same.length > 0 && <Badge meaning="neutral">{`${all.length} times`}</Badge>}
        {userId && !isAboutOne && (
          <p>
            About <PersonLink known={known} id={userId} />
          </p>
        )}
        {actorId && (
          <p>
            By <PersonLink known={known} id={actorId} />, of the staff
          </p>
        )}
        {typeof details.operator === 'string' && (
          <p>
            By the operator <Name>{details.operator}</Name>
          </p>
        )}
        {why && (
          <p>
            Why: <Name>{why}</Name>
          </p>
        )}
        {type.startsWith('staff.') && typeof details.what === 'string' && (
          <p>{details.what.replaceAll('_', ' ')}</p>
        )}
        {typeof details.hits === 'number' && <p>Found: {details.hits}</p>}
        {same.length === 0 ? (
          <AtAndWhere event={event} />
        ) : (
          <>
            <p className="hint">
              From <Instant at={same.at(-1)?.at ?? at} /> to <Instant at={at} />
              <Places of={all.every((each) => isSamePlace(each, event)) ? event : {}} />
            </p>
            <details className="repeats">
              <summary>{all.length > mostListed ? `The newest ${mostListed}` : 'Each of them'}</summary>
              {all.slice(0, mostListed).map((each) => (
                <AtAndWhere key={each.id} event={each} />
              ))}
            </details>
          </>
        )}
      </div>
    </li>
  );
}

/** So many are enough to see where they came from. */
const mostListed = 50;

const AtAndWhere = ({ event }: { event: Event }) => (
  <p className="hint">
    <Instant at={event.at} />
    <Places of={event} />
  </p>
);

const listPlaces = ({ device, place, address }: Partial<Where>) =>
  [device, place, address].filter((each) => each);

const Places = ({ of }: { of: Partial<Where> }) =>
  listPlaces(of).map((each) => <span key={each}> · {each}</span>);

const isSamePlace = (one: Where, other: Where) => listPlaces(one).join() === listPlaces(other).join();
