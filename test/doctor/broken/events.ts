// How a client reads its events, and what it does with each event. `is('…')` turns a fault on, as in the clients themselves.
import { createHmac } from 'node:crypto';
import type { Site, User } from './typescript.ts';

type Event = {
  seq: number;
  type: string;
  user_id?: string;
  sid?: string;
  // biome-ignore lint/suspicious/noExplicitAny: a profile as in a hand-off
  profile?: any;
};

type Reading = {
  site: Site;
  from: string;
  client: string;
  secret: string;
  is: (fault: string) => boolean;
  save: (profile: Event['profile'], mayBeOlder: boolean) => User;
};

/** Reads on until a page is empty. */
export async function pullEvents(reading: Reading): Promise<void> {
  const { site, from, client, secret, is } = reading;
  const token = createHmac('sha256', secret).update(`identity events v1 ${client}`).digest('hex');
  for (;;) {
    const answer = await fetch(`${from}/sso/events?after=${site.after}`, {
      headers: { authorization: `Bearer ${token}` },
    });
    const { events } = (await answer.json()) as { events: Event[] };
    for (const event of is('events_suspension_ignored') ? events.slice(-1) : events) apply(reading, event);
    site.after = events.at(-1)?.seq ?? site.after;
    if (events.length === 0 || is('events_page_missed')) return;
  }
}

function apply({ site, is, save }: Reading, { type, user_id: userId = '', sid = '', profile }: Event): void {
  const { sessions, sids, ended, blocked } = site;
  const end = (isItsSession: (value: string, user: User) => boolean) => {
    for (const [value, user] of sessions) if (isItsSession(value, user)) sessions.delete(value);
  };
  if (type === 'erased' && is('events_erased_stops')) throw new Error('an event about nobody');
  if (type === 'session.ended') {
    if (!is('events_ended_login_taken')) ended.add(sid);
    if (!is('events_logout_ignored')) end((value) => sids.get(value) === sid || is('events_end_others'));
  }
  if (type === 'user.suspended') blocked.add(userId);
  if (type === 'user.restored' && !is('events_restored_ignored')) blocked.delete(userId);
  if (type === 'user.deleted' && !is('events_deletion_ignored')) end((_, { id }) => id === userId);
  if (is('events_profile_ignored')) return;
  if (type === 'profile.updated' && site.users.some(({ id }) => id === userId))
    save(profile, is('events_order_ignored'));
}
