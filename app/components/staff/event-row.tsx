import type { Procedures } from '../../../server/doors/trpc/router.ts';
import { Badge } from '../badge.tsx';
import { Instant } from '../instant.tsx';
import { Name, PersonLink } from './words.tsx';

type Listed = Awaited<ReturnType<Procedures['admin']['audit']['list']>>;
type Event = Listed['events'][number];

type Same = Awaited<ReturnType<Procedures['staffForms']['audit']>>['lines'][number]['same'];

type Where = Pick<Event, 'device' | 'place' | 'address'>;

/** If `isAboutOne`, the whole list is about one person, so the row does not name the person. */
export function EventRow({
  event,
  same = null,
  known,
  isAboutOne = false,
}: {
  event: Event;
  /** Set if this one entry stands for several equal events. */
  same?: Same;
  /** The people whose ids are in the event. */
  known: Listed['people'];
  isAboutOne?: boolean;
}) {
  const { at, type, what, userId, actorId, why, details } = event;
  return (
    <li data-event={type}>
      <div>
        <strong>{what}</strong> {same && <Badge meaning="neutral">{`${same.times} times`}</Badge>}
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
        {typeof details.client === 'string' && <p>Client: {details.client}</p>}
        {typeof details.hits === 'number' && <p>Found: {details.hits}</p>}
        {same ? (
          <>
            <p className="hint">
              From <Instant at={same.since} /> to <Instant at={at} />
              <Places of={same.isOnePlace ? event : {}} />
            </p>
            <details className="repeats">
              <summary>
                {same.times > same.more.length + 1 ? `The newest ${same.more.length + 1}` : 'Each of them'}
              </summary>
              {[event, ...same.more].map((each) => (
                <AtAndWhere key={each.id} event={each} />
              ))}
            </details>
          </>
        ) : (
          <AtAndWhere event={event} />
        )}
      </div>
    </li>
  );
}

const AtAndWhere = ({ event }: { event: Pick<Event, 'at'> & Where }) => (
  <p className="hint">
    <Instant at={event.at} />
    <Places of={event} />
  </p>
);

const Places = ({ of: { device, place, address } }: { of: Partial<Where> }) =>
  [device, place, address].flatMap((each) => (each ? [<span key={each}> · {each}</span>] : []));
