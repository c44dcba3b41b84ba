// Describes `/sso/marketplace/callback` (contract section 6).
import type { Worked } from './examples.ts';
import { handOffParameters, hidden, prefetched } from './hand-off-parameters.ts';
import { always, location, type PathItem, type Refuse, text } from './parts.ts';

export const marketplacePath = ({ inboundHandOff }: Worked, refuse: Refuse): PathItem => {
  const common = { tags: ['Migration'], security: [{ handOffSignature: [] }] };
  const parameters = handOffParameters('MarketplacePayload', { ...inboundHandOff, name: 'new_person' });
  const required = parameters.map((each) =>
    each.name === 'signature_next' ? each : { ...each, required: true },
  );
  return {
    get: {
      ...common,
      operationId: 'receiveMarketplaceHandOff',
      summary: 'The legacy marketplace hands a person over',
      description:
        'Signed with the secret of the marketplace; the form of `signature` and `payload` is that of a hand-off to a client. It counts once.',
      parameters: required,
      responses: {
        204: { description: prefetched, headers: hidden },
        303: {
          description:
            'To the page that the payload named, or the profile. Where this browser must be asked first, to `/continue`.',
          headers: {
            ...hidden,
            Location: location('A page here.', {
              new_person: '/continue?id=0190f5a0-0000-7000-8000-000000000009',
            }),
            'Set-Cookie': {
              description: 'Of a session that starts, or of a question that waits for its answer.',
              schema: text(),
            },
          },
        },
        ...refuse(
          [
            'malformed_payload',
            'invalid_signature',
            'payload_expired',
            'account_suspended',
            'admin_not_allowed',
            'not_configured',
            'nonce_replayed',
            'email_in_use',
          ],
          { headers: { 'Referrer-Policy': always('no-referrer') } },
        ),
      },
    },
    head: {
      ...common,
      operationId: 'receiveMarketplaceHandOffSpeculatively',
      summary: 'Look ahead at a hand-off',
      responses: {
        204: { description: prefetched, headers: hidden },
        ...refuse([], { headers: { 'Referrer-Policy': always('no-referrer') } }),
      },
    },
  };
};
