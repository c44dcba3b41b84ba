import type { ArrivedEvent } from '../../../server/doors/demo/demo-sessions.ts';
import { Badge } from '../badge.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { ServiceName } from '../service-name.ts';

type ArrivedEventsProps = {
  /** Events about the person who is logged in, the newest first. */
  events: ArrivedEvent[];
  /**
   * Both are set while the session lasts. `arrived` counts the events so far. At the URL `feed`, app/enhance.js learns of newer
   * events.
   */
  arrived?: number;
  feed?: string;
};

export function ArrivedEvents({ events, arrived, feed }: ArrivedEventsProps) {
  const intro = (
    <>
      <ServiceName /> tells this client when something about you changes. Edit your profile or log out in
      another tab, and watch.
    </>
  );
  return (
    <Section id="events" title={feed ? 'Events as they arrive' : 'Events that arrived'} intro={feed && intro}>
      <div role="log" aria-labelledby="events" data-feed={feed} data-arrived={arrived}>
        {events.length === 0 && <p>None since you logged in here.</p>}
        <Rows>
          {events.map(({ seq, type, occurredAt, effect }) => (
            <Row
              key={seq ?? type}
              title={<code>{type}</code>}
              about={[seq && `Number ${seq}`, `${occurredAt.slice(11, 19)} UTC`].filter(Boolean).join(', ')}
              end={<Badge meaning={meanings[effect]}>{effect}</Badge>}
            />
          ))}
        </Rows>
      </div>
    </Section>
  );
}

const meanings: Record<string, 'good' | 'needs-you'> = {
  'refreshed the cached profile': 'good',
  'ended this session': 'needs-you',
};
