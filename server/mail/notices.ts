// Builds the notices: emails that tell people what happened to their account. They contain no word that somebody could have
// typed. Otherwise strangers could write to people in our mails.

import type { NoticeKind } from '../../db/tables/mail-kinds.ts';
import { sayInstant } from '../basics/time-zones.ts';
import { dueAfter } from '../identity/person/deletion.ts';
import type { MailMessage } from './layout.ts';
import { buildNotices, isOrWas, listOrdered, type Ordered, usualLines, type Words } from './notice-words.ts';

/** `until` is an ISO instant. */
export type TakeBackLink = { link: string; until: string };

const done = 'If you did this, you are done.';

export const denyByPassword = (baseUrl: string, lines = usualLines) => ({
  url: `${baseUrl}/forgot-password`,
  lines,
});

const denyByTakeBack = ({ link, until }: TakeBackLink, timeZone: string | null, added = 'since then') => ({
  url: link,
  lines: [
    'You take your account back with a new password. We log everyone else out.',
    `We remove passkeys, authenticator apps and recovery codes added ${added}, and cancel any request to delete the account.`,
    `You may need a passkey or code that you set up before this. The link works once, in any browser, until ${sayInstant(new Date(until), timeZone)}.`,
  ],
});

/** Builds the mail about notices that were kept back (contract 9.133). `at` is the time of the first notice. */
export function buildRest({
  baseUrl,
  at,
  timeZone,
  takeBack,
}: {
  baseUrl: string;
  at: string;
  timeZone: string | null;
  takeBack?: TakeBackLink | undefined;
}): MailMessage {
  return {
    subject: 'Several changes in your account',
    paragraphs: [
      'There were many changes in your account, so we send one email about all of them instead of one each. It is about everything since the time below.',
      ...(takeBack ? ['Some of these changes could let someone else in.'] : []),
      'If this is still the email address of your account, log in and go to Activity to see everything that happened.',
    ],
    facts: [['Since', sayInstant(new Date(at), timeZone)]],
    action: { label: 'See what has happened', url: `${baseUrl}/profile/activity`, isQuiet: true },
    after: ['If you did all of this, you are done.'],
    denial: takeBack ? denyByTakeBack(takeBack, timeZone, 'by these changes') : denyByPassword(baseUrl),
    why: isOrWas,
  };
}

export function buildNotice(
  kind: NoticeKind,
  {
    baseUrl,
    at,
    timeZone,
    device,
    hasSupport,
    who,
    by,
    countsAt,
    was,
    role,
    what,
    to,
    invited,
    client,
    ordered = {},
    takeBack,
  }: {
    baseUrl: string;
    at: string;
    /** The reader's. Null for UTC. */
    timeZone: string | null;
    device: string | undefined;
    hasSupport: boolean;
    who?: Words['who'] | undefined;
    /** The email address of the administrator who made the change, or words for a command. */
    by?: string | undefined;
    countsAt?: string | undefined;
    was?: string | undefined;
    role?: string | undefined;
    what?: string | undefined;
    to?: string | undefined;
    invited?: string | undefined;
    client?: string | undefined;
    ordered?: Ordered | undefined;
    takeBack?: TakeBackLink | undefined;
  },
): MailMessage {
  const { subject, text, advice, action, why, doubt } = buildNotices({
    dueAt: sayInstant(dueAfter(new Date(at)), timeZone),
    hasSupport,
    who: who ?? { id: '', name: '' },
    countsAt: sayInstant(new Date(countsAt ?? at), timeZone),
    ...{ was, role, what, to, ordered, invited, client },
  })[kind];
  const mayBeOwn = advice === undefined || doubt !== undefined;
  return {
    subject,
    paragraphs: [text, ...(advice ? [advice] : [])],
    facts: [
      ...listOrdered(ordered),
      ['When', sayInstant(new Date(at), timeZone)],
      ...(device ? [['Browser', device] as [string, string]] : []),
      ...(by ? [['Done by', by] as [string, string]] : []),
    ],
    ...(action && {
      action: {
        ...{ label: action.label, url: `${baseUrl}${action.path}` },
        ...(action.isQuiet && { isQuiet: true }),
      },
    }),
    ...(mayBeOwn && {
      after: [doubt?.done ?? done],
      denial: takeBack ? denyByTakeBack(takeBack, timeZone) : denyByPassword(baseUrl, doubt?.lines),
    }),
    ...(why && { why }),
  };
}
