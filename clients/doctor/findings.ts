// Everything that the doctor can find, by its id: how bad it is, and what to do about it. docs/doctor.md explains each finding.

export const groups = {
  accepts: 'Accepts what it must not',
  refuses: 'Refuses what it must take',
  noticed: 'Also noticed',
  advice: 'Advice',
} as const;
export type Group = keyof typeof groups;

const rawBytes = 'Compute the MAC over the characters of "payload" as they arrived.';

const catalog = {
  // The client accepts something that it must refuse.
  mac_not_checked: [
    'accepts',
    'Compute the MAC and refuse where it differs. Until then anybody can log in as anybody.',
  ],
  key_known: [
    'accepts',
    'Give it the secret that the operator has, and let it not start without one. Until then anybody can log in as anybody.',
  ],
  mac_compared_in_part: ['accepts', 'Compare all 64 digits, in constant time.'],
  signature_uppercase: ['accepts', 'Take a signature only in the form of 64 lower-case hex digits.'],
  signature_repeated: ['accepts', 'Refuse where "signature" is there more than once.'],
  payload_repeated: ['accepts', 'Refuse where "payload" is there more than once.'],
  payload_padded: ['accepts', 'Take base64url without padding only.'],
  payload_standard_base64: ['accepts', 'Take A-Z a-z 0-9 - _ only, before you decode.'],
  payload_spare_bits: [
    'accepts',
    'Encode again what you have decoded, and refuse where that is not what arrived.',
  ],
  json_duplicate_names: ['accepts', 'Refuse JSON in which a name is given twice, at any level.'],
  json_too_deep: ['accepts', 'Refuse JSON that is nested deeper than 16 levels.'],
  member_types: ['accepts', 'Check that each member is there and has its type.'],
  issuer_not_checked: ['accepts', 'Compare "iss" with the issuer that the operator gave you.'],
  audience_not_checked: ['accepts', 'Compare "aud" with your client name.'],
  client_not_checked: ['accepts', 'Compare "client" with your client name.'],
  expiry_not_checked: ['accepts', 'Refuse from 30 seconds after "exp".'],
  leeway_too_long: ['accepts', 'Allow 30 seconds for clocks, and no more.'],
  future_not_checked: ['accepts', 'Refuse where "iat" is more than 30 seconds ahead.'],
  lifetime_not_checked: [
    'accepts',
    'Refuse where "exp" - "iat" is more than the lifetime that the operator gave you.',
  ],
  nonce_not_checked: ['accepts', 'Store each nonce under a unique index, and refuse one that is there.'],
  nonce_kept_too_short: ['accepts', 'Keep each nonce until 60 seconds after "exp", and longer if you like.'],
  nonce_not_atomic: [
    'accepts',
    'Use the nonce up in one statement that fails if it is there, on the database that takes the writes.',
  ],
  state_not_compared: [
    'accepts',
    'Start a session only where this browser has the cookie of the attempt with that state.',
  ],
  state_guessable: ['accepts', 'Make each "state" of 128 random bits or more.'],
  state_missing_accepted: [
    'accepts',
    'Send a hand-off without "state" to the login start, and leave it unused.',
  ],
  return_to_open: ['accepts', 'Follow "return_to" only as a path on your own origin.'],
  linked_by_email: ['accepts', 'Know people by "profile.id", never by their e-mail address.'],
  older_profile_applied: [
    'accepts',
    'Apply a profile only where its "profile_updated_at" is later than what you have.',
  ],
  newer_profile_ignored: [
    'accepts',
    'Apply a profile with each login, if its "profile_updated_at" is later than what you have.',
  ],
  role_kept: ['accepts', 'Take role and capabilities from the newest profile, in place of the earlier ones.'],
  text_unescaped: [
    'accepts',
    'Escape what came from outside wherever a page shows it: names, errors, and parts of an address.',
  ],
  people_mixed: [
    'accepts',
    'Know people by the whole "profile.id", and keep pages that name somebody out of every cache.',
  ],
  auth_time_not_checked: [
    'accepts',
    'If you demand a credential, compare "auth_time" with the start of the attempt.',
  ],
  host_followed: [
    'accepts',
    'Take your own address from the configuration, never from Host or X-Forwarded-Host.',
  ],
  earlier_login_kept: ['accepts', 'Let each login take the place of the one before in that browser.'],
  session_fixed: ['accepts', 'Start each session with a new id.'],
  session_forgeable: [
    'accepts',
    'Give each session 256 random bits, and look them up, or sign the whole cookie and check that.',
  ],
  session_guessable: ['accepts', 'Give each session 256 random bits, and derive them from nothing.'],
  speculative_logs_in: ['accepts', 'Answer HEAD and prefetch with 204, and start no session.'],
  events_signature_not_checked: ['accepts', 'Check the signature of a nudge over "id.timestamp.body".'],
  events_logout_ignored: ['accepts', 'End the session of that "sid" as soon as the event is read.'],
  events_suspension_ignored: [
    'accepts',
    'End the session of each "sid", also of several events in one page.',
  ],
  events_deletion_ignored: ['accepts', 'End the sessions of the person, and forget them.'],
  events_page_missed: ['accepts', 'Read on until a page is empty: not all events fit on the first one.'],
  events_profile_ignored: [
    'accepts',
    'Apply the profile of "profile.updated" to the person, also in sessions.',
  ],
  events_order_ignored: [
    'accepts',
    'Apply the profile of an event only where its "profile_updated_at" is later than what you have.',
  ],
  events_ended_login_taken: [
    'accepts',
    'Remember each "sid" that has ended for as long as a hand-off is valid, and refuse it.',
  ],
  events_timestamp_not_checked: ['accepts', 'Refuse a nudge whose timestamp is more than 300 seconds off.'],
  // The client refuses something that it must accept.
  secret_wrong: ['refuses', 'Give it the secret that the operator has. Each character counts.'],
  mac_over_json: ['refuses', rawBytes],
  genuine_refused: ['refuses', 'Look up the code, or the client’s log.'],
  signature_next_ignored: ['refuses', 'Take a hand-off if "signature" or "signature_next" is right.'],
  leeway_missing: ['refuses', 'Allow 30 seconds for clocks, before "iat" and after "exp".'],
  unknown_member_refused: [
    'refuses',
    'Ignore members and capabilities that you do not know: more will come.',
  ],
  optional_member_demanded: [
    'refuses',
    'Do without "sid", "auth_time", "amr" and "return_to" where they are not there.',
  ],
  name_refused: ['refuses', 'Take names in any script, as UTF-8.'],
  nonce_mistaken: ['refuses', 'Compare all 22 characters of a nonce, and tell upper case from lower case.'],
  nonce_before_mac: ['refuses', 'Use the nonce up last, once everything else is right.'],
  nonce_before_state: ['refuses', 'Compare the state before you use the nonce up.'],
  speculative_uses_nonce: ['refuses', 'Answer HEAD and prefetch with 204, and use nothing up.'],
  one_state_cookie: ['refuses', 'Keep a cookie for each attempt, with the state in its name.'],
  unsolicited_refused: [
    'refuses',
    'Send a hand-off without "state" to the login start: links from elsewhere rely on it.',
  ],
  unsolicited_uses_nonce: ['refuses', 'Leave a hand-off without "state" unused.'],
  events_nudge_refused: ['refuses', 'Take a nudge that is correctly signed, with a 2xx within 10 seconds.'],
  events_second_signature_ignored: [
    'refuses',
    'Take a nudge if any of its signatures, between spaces, is right.',
  ],
  events_end_others: ['refuses', 'End only the session of the "sid" in the event.'],
  events_restored_ignored: ['refuses', 'Let a person in again after "user.restored".'],
  events_erased_stops: ['refuses', 'Skip "erased", which names nobody, and go on with the next event.'],
  // Something else is wrong.
  page_cached: [
    'noticed',
    'Answer with "Cache-Control: private" or "no-store" if somebody is logged in: a cache may give the page to others.',
  ],
  clock_wrong: ['noticed', 'Set the clock of that server by NTP.'],
  callback_cached: [
    'noticed',
    'Answer with "Cache-Control: no-store", and keep caches away from login start and callback.',
  ],
  cache_in_front: [
    'noticed',
    'Keep caches away from login start and callback: they give one person the login of another.',
  ],
  login_start_cached: [
    'noticed',
    'Answer with "Cache-Control: no-store", and keep caches away from login start and callback.',
  ],
  referrer_sent: ['noticed', 'Answer with "Referrer-Policy: no-referrer".'],
  certificate_wrong: ['noticed', 'Install a certificate that browsers accept.'],
  certificate_expires: ['noticed', 'Renew it.'],
  launch_elsewhere: [
    'noticed',
    'Lead the login start to the launch of this service, under your client name.',
  ],
  attempt_cookie_strict: [
    'noticed',
    'Set it with SameSite=Lax: browsers do not send a Strict one on the way back.',
  ],
  query_changed: [
    'noticed',
    'Look for a proxy, firewall or link checker that changes the query of addresses.',
  ],
  state_unknown_loops: [
    'noticed',
    'Answer an unknown state with a page and a login button, never with a redirect.',
  ],
  error_loops: ['noticed', 'Answer "error=…" with a page, never with another launch.'],
  second_submit_logs_out: ['noticed', 'Refuse a hand-off that was used, and leave the session alone.'],
  session_not_kept: [
    'noticed',
    'Set the session cookie with Path=/, and let all servers read sessions from one store.',
  ],
  session_cookie_readable: ['noticed', 'Set the session cookie with HttpOnly.'],
  session_cookie_insecure: ['noticed', 'Set the session cookie with Secure.'],
  session_cookie_cross_site: ['noticed', 'Set the session cookie with SameSite=Lax.'],
  events_not_pulled: [
    'noticed',
    'Pull when a nudge comes, and look in its log for what fails: until then it learns of no change, and ends no session.',
  ],
  launch_id_wrong: ['noticed', 'Make it from the nonce of the hand-off that is refused.'],
  store_unavailable: ['noticed', 'Look at the database of this client: nobody can be let in.'],
  crashes: ['noticed', 'Refuse what is malformed with a 4xx.'],
  rate_limited: [
    'advice',
    'Let the callback take more requests at once, or run the doctor when it is quiet.',
  ],
  // These findings are no faults.
  refusal_code_missing: [
    'advice',
    'Send the code of a refusal in a header "Identity-Refusal": the report says more then.',
  ],
  refusal_status: [
    'advice',
    'Refuse with a 4xx. Only a hand-off without "state" is answered with a redirect, to the login start.',
  ],
  same_site_missing: [
    'advice',
    'Set the session cookie with SameSite=Lax: not every browser does by itself.',
  ],
  events_pulled_late: [
    'advice',
    'Pull when a nudge comes, too: until its timer runs, it learns of no change, and ends no session.',
  ],
  log_out_keeps_session: ['advice', 'End the session at the server: a copy of the cookie still logs in.'],
  rotation_unfinished: ['advice', 'Give the client the second secret before the operator removes the first.'],
} as const satisfies Record<string, readonly [Group, remedy: string]>;

export type FindingId = keyof typeof catalog;
export const findingIds = Object.keys(catalog) as FindingId[];
export const groupOf = (id: FindingId): Group => catalog[id][0];
export const remedyOf = (id: FindingId): string => catalog[id][1];
