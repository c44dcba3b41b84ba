<?php

declare(strict_types=1);

namespace Identity;

/**
 * What each refusal means, and what to do about it, for the log. The texts are the same as at `/developers/refusals` of the
 * identity service. They are in ASCII, because some logs escape other characters.
 */
final class Reasons
{
    public const OF = [
        'parameter_missing' => 'The callback was opened without a payload or a signature.'
            . ' Start at the login again. If it happens each time, look for a proxy or a plugin that cuts the query from addresses.',
        'parameter_repeated' => 'A parameter is there twice.'
            . ' Start at the login again. If it happens each time, look for a proxy that adds to the query.',
        'payload_malformed' => 'The payload is not unpadded base64url, or is longer than 8,192 characters.'
            . ' Start at the login again. If it happens each time, look for something that changes addresses on the way, such as a link checker or a firewall.',
        'signature_malformed' => 'A signature is not 64 lower-case hex digits.'
            . ' Start at the login again. If it happens each time, look for something that changes addresses on the way.',
        'signature_wrong' => 'No signature was made with a secret that this client holds.'
            . ' Compare the secret with the operator\'s: each character counts, and so does a space or a line break at its end. The doctor says which secret the client holds.',
        'json_malformed' => 'The payload is not JSON in which each name is given once, at most 16 levels deep.'
            . ' Our service never makes such a payload. Ask the operator who else has the secret.',
        'member_wrong' => 'A member of the payload is missing or does not have its form.'
            . ' Update the kit. If it is the newest, ask the operator which version of the service runs.',
        'issuer_wrong' => 'The hand-off comes from another identity service.'
            . ' Set the issuer to what the operator gave you, character by character.',
        'audience_wrong' => 'The hand-off was made for another client.'
            . ' Set the client name to what the operator gave you, and have a secret of your own.',
        'issued_in_future' => 'The hand-off was issued later than this server\'s clock says it is.'
            . ' This server\'s clock is slow, or the identity service\'s is fast. Set yours by NTP. If it is right, tell the operator.',
        'expired' => 'The hand-off has expired.'
            . ' Log in again. If it happens each time, this server\'s clock is fast, the identity service\'s is slow, or your callback is cached. Set yours by NTP. If it is right, tell the operator.',
        'lifetime_wrong' => 'The hand-off is valid for longer than this client accepts.'
            . ' Set the kit\'s lifetime to the operator\'s IDENTITY_SSO_TTL.',
        'state_missing' => 'Nobody asked for this hand-off here: it came by a link from elsewhere.'
            . ' Nothing: the browser goes to the login start and comes back with one that was asked for.',
        'state_unknown' => 'This browser did not ask for this login, or did more than ten minutes ago.'
            . ' Log in again in this browser. If it happens each time, the cookie is lost: the login start and the callback must be on one host, over https, and not cached.',
        'auth_time_too_old' => 'The person was asked for their password or passkey again, and did not give it.'
            . ' Log in again, and give it.',
        'nonce_replayed' => 'The hand-off was used before.'
            . ' Go on if you are logged in, else log in again. If it happens each time, something opens the address before the browser does, such as a link checker.',
        'session_ended' => 'The login ended before it arrived here.'
            . ' Log in again.',
        'person_refused' => 'This site does not let this person in.'
            . ' Ask the owner of the site. On WordPress, look at the setting for people who have a local account already. People who may do more there than read are never let in as the user they have there: the plugin\'s page says how administrators log in.',
        'login_required' => 'Nobody is logged in at the identity service.'
            . ' Log in.',
        'interaction_required' => 'The person has something to do at the identity service first.'
            . ' Log in, and follow what it says.',
        'access_denied' => 'The person is suspended, or may not enter this client.'
            . ' Ask support.',
        'error_unknown' => 'The callback got an error that this kit does not know.'
            . ' Update the kit.',
        'method_not_allowed' => 'The callback takes GET only, and an address for nudges or a log-out POST only.'
            . ' Look for what sends the other method.',
        'logout_token_wrong' => 'The form that logs out did not come from a page of this session.'
            . ' Give the form the token that the kit makes for this session, and put the form into no cache.',
        'store_unavailable' => 'A store of this client cannot be reached, so nobody can be let in.'
            . ' Look at the database of this client.',
        'nudge_malformed' => 'The nudge lacks a header, or its body is not the JSON of a nudge.'
            . ' Look for a proxy that drops headers or changes bodies.',
        'nudge_signature_wrong' => 'The nudge was not signed with a secret that this client holds.'
            . ' Compare the secret with the operator\'s, and look for a proxy that changes bodies.',
        'nudge_too_old' => 'The nudge was signed more than five minutes before or after what this server\'s clock says.'
            . ' Set the clock by NTP.',
    ];
}
