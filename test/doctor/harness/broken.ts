// The faults that the broken clients have, and what a report says is wrong.
import type { Report } from '../../../clients/doctor/examine.ts';
import { type FindingId, groupOf } from '../../../clients/doctor/findings.ts';

/** Each fault is the name of its finding, and of the client that has it. */
export const faultNames: FindingId[] = [
  'mac_not_checked',
  'mac_over_json',
  'mac_compared_in_part',
  'signature_uppercase',
  'signature_next_ignored',
  'signature_repeated',
  'payload_repeated',
  'payload_padded',
  'payload_standard_base64',
  'payload_spare_bits',
  'json_duplicate_names',
  'member_types',
  'issuer_not_checked',
  'audience_not_checked',
  'client_not_checked',
  'expiry_not_checked',
  'leeway_too_long',
  'leeway_missing',
  'future_not_checked',
  'lifetime_not_checked',
  'nonce_not_checked',
  'nonce_before_mac',
  'nonce_not_atomic',
  'state_not_compared',
  'state_missing_accepted',
  'one_state_cookie',
  'return_to_open',
  'callback_cached',
  'linked_by_email',
  'older_profile_applied',
];

/** The ids of what is wrong, in the order of the alphabet. */
export const faultsOf = ({ findings }: Pick<Report, 'findings'>): FindingId[] =>
  findings
    .map(({ id }) => id)
    .filter((id) => groupOf(id) !== 'advice')
    .sort();
