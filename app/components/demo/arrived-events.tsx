import { useEffect, useState } from 'react';
import type { ArrivedEvent } from '../../../server/doors/demo/demo-sessions.ts';
import { Badge } from '../badge.tsx';
import { Row, Rows } from '../rows.tsx';
import { Section } from '../section.tsx';
import { ServiceName } from '../service-name.ts';

/** The visit as it was loaded, and then as it arrives anew. Without script, the next load shows the news. */
export function useArrivals<Visit extends { session?: object } | null>(client: string, loaded: Visit): Visit {
  const [visit, setVisit] = useState(loaded);
  const isLive = visit?.session !== undefined;
  useEffect(() => {
    if (!isLive) return;
    const source = new EventSource(`/demo/${client}/events`);
    source.onmessage = ({ data }) => setVisit(JSON.parse(data));
    return () => source.close();
  }, [client, isLive]);
  return visit;
}

/** The events about the person who is logged in, the newest first. */
export function ArrivedEvents({ events, isLive }: { events: ArrivedEvent[]; isLive: boolean }) {
  const intro = (
    <>
      <ServiceName /> tells this client when something about you changes. Edit your profile or log out in
      another tab, and watch.
    </>
  );
  return (
    <Section
      id="events"
      title={isLive ? 'Events as they arrive' : 'Events that arrived'}
      intro={isLive && intro}
    >
      <div role="log" aria-labelledby="events">
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
