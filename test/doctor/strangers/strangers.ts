// Sites that were written by somebody who has not seen the doctor. The doctor has to find the faults of the broken sites, and
// nothing wrong at the right sites. A name says nothing about what its site does.
import * as broken from './broken.ts';
import * as right from './right.ts';
import { createListener } from './serve.ts';
import type { StrangerOptions } from './sessions.ts';
import type { Site } from './site.ts';

type Kind = new (options: StrangerOptions, name: string) => Site;

const list: [name: string, isRight: boolean, kind: Kind, fault: string][] = [
  [
    's01',
    false,
    broken.RememberMe,
    'A remember-me cookie logs the person in again after an event has ended their session.',
  ],
  ['s02', true, right.LoginPage, 'The login start is a page that goes on by itself.'],
  [
    's03',
    false,
    broken.ShortId,
    'The first 32 bits of the person’s id are the local key, so people of one minute are one person.',
  ],
  [
    's04',
    false,
    broken.StatesOfEverybody,
    'The states of all browsers are in one set, so any browser’s state counts in any other.',
  ],
  [
    's05',
    true,
    right.SignedCookies,
    'The session is in a signed cookie, and what has ended is kept on the server.',
  ],
  [
    's06',
    false,
    broken.CachedHome,
    'The home page is cached for ten seconds by its path alone, so people see each other’s.',
  ],
  [
    's07',
    false,
    broken.JumpToLatest,
    'After a full page of events, the position jumps to `latest`, so those between are never read.',
  ],
  [
    's08',
    true,
    right.ScriptPage,
    'The home page is the same for everybody, and its script asks who is logged in.',
  ],
  [
    's09',
    false,
    broken.OtherPayload,
    'If the payload is given twice, the first is verified and the last is used.',
  ],
  ['s10', true, right.UpperCase, 'Pages show names and roles in upper case.'],
  [
    's11',
    false,
    broken.FragileCookies,
    'A cookie of somebody else with a bare % makes every page fail in that browser.',
  ],
  [
    's12',
    false,
    broken.PlainSessionId,
    'A session’s id is made of the user’s number and the time, so it can be guessed.',
  ],
  [
    's13',
    true,
    right.TwoPages,
    'The callback leads through two pages of the site before the page that was asked for.',
  ],
  [
    's14',
    false,
    broken.StrictAttempt,
    'The attempt’s cookie is SameSite=Strict, so browsers do not send it when they come back.',
  ],
  [
    's15',
    false,
    broken.NoncesOfSession,
    'Nonces are kept in the session, so a hand-off works again after a log-out.',
  ],
  ['s16', true, right.OneStatus, 'All refusals have status 400, the same words, and no code.'],
  [
    's17',
    false,
    broken.WholeSeconds,
    'Profiles are compared by whole seconds, so a second change within one second is lost.',
  ],
  [
    's18',
    false,
    broken.SilentLoop,
    'The home page tries a silent login each time, so visitors without a login go round for ever.',
  ],
  ['s19', true, right.JsonPages, 'The home page and the account are JSON.'],
  [
    's20',
    false,
    broken.ShortSignature,
    'Signatures are compared over the shorter length, so an empty one is right.',
  ],
  [
    's21',
    true,
    right.Visitors,
    'A visitor’s cookie is set at the first page, and stays the same through logins.',
  ],
  [
    's22',
    false,
    broken.PromptWithoutCheck,
    'The login asks for the password again by `prompt=login`, and nobody checks `auth_time`.',
  ],
  ['s23', true, right.German, 'All pages are in German.'],
  ['s24', false, broken.RarePull, 'Events are read at most every five minutes, whatever nudges say.'],
];

export const strangers = list.map(([name, isRight, , fault]) => ({ name, isRight, fault }));

/** The listener has a function `close`, which stops reading events. Reading also stops when the server closes. */
export function createStrangers(options: StrangerOptions) {
  const sites = new Map(list.map(([name, , Kind]) => [name, new Kind(options, name)]));
  for (const site of sites.values()) site.start();
  return createListener(sites);
}
