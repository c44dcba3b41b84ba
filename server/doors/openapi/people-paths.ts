// Describes what clients and pages read about people (contract sections 5 and 10).

import { AppError } from '../../basics/errors.ts';
import { eventsQuery } from '../endpoints/sso-events.ts';
import type { Worked } from './examples.ts';
import {
  always,
  type Headers,
  ifNoneMatch,
  json,
  location,
  noStore,
  type PathItem,
  type Refuse,
  text,
  toExamples,
} from './parts.ts';
import { schemaRef, wholeSchema } from './schemas.ts';

const revalidated: Headers = {
  'Cache-Control': always('private, no-cache'),
  Vary: always('Cookie'),
  ETag: { required: true, schema: text('^".+"$') },
};

export const profilePath = ({ profile }: Worked, refuse: Refuse): PathItem => ({
  get: {
    operationId: 'readProfile',
    tags: ['People'],
    summary: 'Read the profile of whoever is logged in',
    description:
      'For pages of this service, and for people who look. Clients get the profile with the hand-off and from the events. There are no CORS headers.',
    security: [{ session: [] }],
    parameters: [ifNoneMatch],
    responses: {
      200: {
        description: 'The profile. Its address may be one that is not proved yet.',
        headers: revalidated,
        content: json(schemaRef('Profile'), { profile }),
      },
      303: {
        description: 'For a browser: to set up a second factor first.',
        headers: { ...noStore, Location: location('A page here.') },
      },
      304: { description: 'It has not changed.', headers: revalidated },
      ...refuse(['login_required', 'second_factor_required']),
    },
  },
});

export const eventsPath = ({ events }: Worked, refuse: Refuse): PathItem => ({
  get: {
    operationId: 'pullEvents',
    tags: ['People'],
    summary: 'Read what has changed',
    description:
      'Events about the people who were handed to your client, in one sequence. The token alone says which client asks. Ask again with the number of the last event until a page is empty.',
    security: [{ eventsToken: [] }],
    parameters: [
      {
        name: 'after',
        in: 'query',
        description: 'The number of the last event that you have applied.',
        schema: wholeSchema(eventsQuery.after),
        examples: toExamples({ first_page: 0, events_gone: 1_000_000 }),
      },
      {
        name: 'limit',
        in: 'query',
        description: 'How many events at most.',
        schema: wholeSchema(eventsQuery.limit),
        examples: toExamples({ first_page: 100 }),
      },
      {
        name: 'wait',
        in: 'query',
        description: 'How many seconds to wait where there is no event yet.',
        schema: wholeSchema(eventsQuery.wait),
      },
    ],
    responses: {
      200: {
        description: 'A page of events.',
        headers: noStore,
        content: json(schemaRef('EventPage'), { first_page: events }),
      },
      ...refuse(['invalid_token', 'events_gone', 'rate_limited'], {
        examples: { events_gone: new AppError('events_gone', { oldest: 1 }) },
      }),
    },
  },
});
