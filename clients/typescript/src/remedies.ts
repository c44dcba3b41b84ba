// What to do about each refusal, for the log. All kits use these words (clients/refusals.json).
import type { RefusalCode } from './refusals.ts';

export const remedies: Record<RefusalCode, string> = {
  parameter_missing:
    'Start at the login again. If it happens each time, look for a proxy or a plugin that cuts the query from addresses.',
  parameter_repeated:
    'Start at the login again. If it happens each time, look for a proxy that adds to the query.',
  payload_malformed:
    'Start at the login again. If it happens each time, look for something that changes addresses on the way, such as a link checker or a firewall.',
  signature_malformed:
    'Start at the login again. If it happens each time, look for something that changes addresses on the way.',
  signature_wrong:
    'Compare the secret with the operator’s: each character counts, and so does a space or a line break at its end. The doctor says which secret the client holds.',
  json_malformed: 'Our service never makes such a payload. Ask the operator who else has the secret.',
  member_wrong: 'Update the kit. If it is the newest, ask the operator which version of the service runs.',
  issuer_wrong: 'Set the issuer to what the operator gave you, character by character.',
  audience_wrong: 'Set the client name to what the operator gave you, and have a secret of your own.',
  issued_in_future:
    'This server’s clock is slow, or the identity service’s is fast. Set yours by NTP. If it is right, tell the operator.',
  expired:
    'Log in again. If it happens each time, this server’s clock is fast, the identity service’s is slow, or your callback is cached. Set yours by NTP. If it is right, tell the operator.',
  lifetime_wrong: 'Set the kit’s lifetime to the operator’s IDENTITY_SSO_TTL.',
  state_missing: 'Nothing: the browser goes to the login start and comes back with one that was asked for.',
  state_unknown:
    'Log in again in this browser. If it happens each time, the cookie is lost: the login start and the callback must be on one host, over https, and not cached.',
  auth_time_too_old: 'Log in again, and give it.',
  nonce_replayed:
    'Go on if you are logged in, else log in again. If it happens each time, something opens the address before the browser does, such as a link checker.',
  session_ended: 'Log in again.',
  person_refused:
    "Ask the owner of the site. On WordPress, look at the setting for people who have a local account already. People who may do more there than read are never let in as the user they have there: the plugin's page says how administrators log in.",
  login_required: 'Log in.',
  interaction_required: 'Log in, and follow what it says.',
  access_denied: 'Ask support.',
  error_unknown: 'Update the kit.',
  method_not_allowed: 'Look for what sends the other method.',
  logout_token_wrong:
    'Give the form the token that the kit makes for this session, and put the form into no cache.',
  store_unavailable: 'Look at the database of this client.',
  nudge_malformed: 'Look for a proxy that drops headers or changes bodies.',
  nudge_signature_wrong: 'Compare the secret with the operator’s, and look for a proxy that changes bodies.',
  nudge_too_old: 'Set the clock by NTP.',
};
