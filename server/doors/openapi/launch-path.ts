// Describes `/sso/launch/{client}` (contract section 4).
import { maxAgeLimit } from '../endpoints/launch.ts';
import type { Worked } from './examples.ts';
import { clientParameter, hidden, member, prefetched, returnTo } from './hand-off-parameters.ts';
import { always, location, type Operation, type PathItem, type Refuse, toExamples } from './parts.ts';

const shopCallback = 'https://shop.example.com/sso/callback';

export const launchPath = ({ state, handOff }: Worked, refuse: Refuse): PathItem => {
  const silent = `${shopCallback}?${new URLSearchParams({ error: 'login_required', state })}`;
  const next = encodeURIComponent(`/sso/launch/shop?state=${state}`);
  const security: Operation['security'] = [{ session: [] }, {}];
  const common = { tags: ['Login'], security };
  const client = clientParameter({
    logged_in: 'shop',
    not_logged_in: 'shop',
    silent: 'shop',
    unknown_client: 'nobody',
  });
  return {
    get: {
      ...common,
      operationId: 'launch',
      summary: 'Send a browser to log in',
      description:
        'Redirect the browser here. It comes back to the callback that the operator configured, and nothing in the request can change that. A parameter that is given twice is refused.',
      parameters: [
        client,
        {
          name: 'state',
          in: 'query',
          description:
            'Comes back inside the payload. Make a new one for each attempt, and keep it in a cookie: it is how you know that this browser asked.',
          schema: member('state'),
          examples: toExamples({ logged_in: state, not_logged_in: state, silent: state }),
        },
        {
          ...returnTo,
          description: `${returnTo.description} Comes back inside the payload.`,
          examples: toExamples({ logged_in: '/orders' }),
        },
        {
          name: 'prompt',
          in: 'query',
          description: '`none` never shows a page. `login` asks for a credential again.',
          schema: { type: 'string', enum: ['none', 'login'] },
          examples: toExamples({ silent: 'none' }),
        },
        {
          name: 'max_age',
          in: 'query',
          description:
            'Seconds: asks for a credential again if the last one was given longer ago. Check `auth_time` in the payload.',
          schema: { type: 'integer', minimum: 0, maximum: maxAgeLimit },
        },
        {
          name: 'auth_after',
          in: 'query',
          description:
            'Unix seconds. This service sends it to itself, in place of `max_age` and `prompt=login`, while the person logs in.',
          schema: { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
        },
      ],
      responses: {
        204: { description: prefetched, headers: hidden },
        303: {
          description:
            'To your callback with a hand-off, or with `error` and `state` where `prompt` is `none`. Or to a page here, which goes on with the launch: to log in, to verify the email address, to set up or give a second factor, or to cancel a planned deletion.',
          headers: {
            ...hidden,
            Location: location('Where the browser goes on.', {
              logged_in: `${shopCallback}?${new URLSearchParams(handOff)}`,
              not_logged_in: `/login?next=${next}`,
              silent,
            }),
          },
        },
        ...refuse(['client_not_allowed', 'unknown_client'], {
          headers: { 'Referrer-Policy': always('no-referrer') },
        }),
      },
    },
    head: {
      ...common,
      operationId: 'launchSpeculatively',
      summary: 'Look ahead at a launch',
      parameters: [clientParameter({})],
      responses: {
        204: { description: prefetched, headers: hidden },
        ...refuse([], { headers: { 'Referrer-Policy': always('no-referrer') } }),
      },
    },
  };
};
