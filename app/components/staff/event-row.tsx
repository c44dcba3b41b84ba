import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { Instant } from '../instant.tsx';
import { Name, PersonLink } from './words.tsx';

type Listed = Awaited<ReturnType<Procedures['admin']['audit']['list']>>;
type Event = Listed['events'][number];

/** `isAboutOne`: the whole list is about one person, so the row does not name them. */
export function EventRow({
  event,
  known,
  isAboutOne = false,
}: {
  event: Event;
  /** The people whose ids are in the event. */
  known: Listed['people'];
  isAboutOne?: boolean;
}) {
  const { at, type, what, userId, actorId, why, device, place, address, details } = event;
  return (
    <li data-event={type}>
      <div>
        <strong>{what}</strong>
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
        <p className="hint">
          <Instant at={at} />
          {[device, place, address]
            .filter((each) => each)
            .map((each) => (
              <span key={each}> · {each}</span>
            ))}
        </p>
      </div>
    </li>
  );
}
