import { describe, expect, it } from 'vitest';
import type { MailKind } from '../../db/tables/mail-kinds.ts';
import type { Told } from '../../db/tables/take-back-changes.ts';
import { layOut, type MailMessage } from '../../server/mail/layout.ts';
import { letters } from '../../server/mail/letters.ts';
import { buildNotice, buildRest } from '../../server/mail/notices.ts';
import { buildAccent } from '../../server/settings/accent.ts';
import { linkIn } from '../support/people/mail-server.ts';

const baseUrl = 'https://id.example.test';
const notice = { baseUrl, at: '2026-01-02T03:04:05.000Z', device: 'Firefox on Linux', hasSupport: true };
const words = { link: `${baseUrl}/a?token=t&next=%2Fb`, life: '1 hour' };
const takeBack = { link: `${baseUrl}/take-back?token=t`, until: '2026-01-09T03:04:05.000Z' };
const style = { name: 'Château & <Söhne>', accent: buildAccent('#14594a') };

type Special = `${Told | 'rest'} with a take-back link` | 'rest';

const messages: Record<MailKind | Special, MailMessage> = {
  welcome: letters.welcome.build(words),
  set_password: letters.set_password.build(words),
  prove_address: letters.prove_address.build(words),
  verify_email: letters.verify_email.build(words),
  sign_up: letters.sign_up.build(words),
  account_exists: letters.account_exists.build(words),
  change_email: letters.change_email.build(words),
  account_frozen: buildNotice('account_frozen', notice),
  account_thawed: buildNotice('account_thawed', notice),
  authenticator_added: buildNotice('authenticator_added', notice),
  authenticator_removed: buildNotice('authenticator_removed', notice),
  codes_guessed: buildNotice('codes_guessed', notice),
  factors_removed: buildNotice('factors_removed', notice),
  recovery_code_used: buildNotice('recovery_code_used', notice),
  recovery_codes_made: buildNotice('recovery_codes_made', notice),
  account_deleted: buildNotice('account_deleted', notice),
  account_linked: buildNotice('account_linked', notice),
  contract_added: buildNotice('contract_added', notice),
  data_downloaded: buildNotice('data_downloaded', notice),
  deletion_canceled: buildNotice('deletion_canceled', notice),
  deletion_requested: buildNotice('deletion_requested', notice),
  email_change_undone: buildNotice('email_change_undone', notice),
  email_changed: buildNotice('email_changed', notice),
  email_proved: buildNotice('email_proved', notice),
  email_replaced: buildNotice('email_replaced', notice),
  new_browser: buildNotice('new_browser', notice),
  passkey_added: buildNotice('passkey_added', notice),
  passkey_removed: buildNotice('passkey_removed', notice),
  password_changed: buildNotice('password_changed', notice),
  password_set: buildNotice('password_set', notice),
  'passkey_added with a take-back link': buildNotice('passkey_added', { ...notice, takeBack }),
  'authenticator_added with a take-back link': buildNotice('authenticator_added', { ...notice, takeBack }),
  'recovery_codes_made with a take-back link': buildNotice('recovery_codes_made', { ...notice, takeBack }),
  'email_changed with a take-back link': buildNotice('email_changed', { ...notice, takeBack }),
  'deletion_requested with a take-back link': buildNotice('deletion_requested', { ...notice, takeBack }),
  rest: buildRest(notice),
  'rest with a take-back link': buildRest({ ...notice, takeBack }),
};

const decode = (html: string) =>
  html
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&amp;', '&');

/** The words of the HTML, as a person reads them. */
const wordsOf = (html: string) =>
  decode(html.replace(/<(style|title)>[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ');

describe.each(Object.entries(messages))('the mail %s', (_, message) => {
  const { subject, text, html } = layOut(message, style);

  it('has one action: a line of the text, and in the HTML a button and the same as text', () => {
    const link = linkIn({ text }, new URL(message.action?.url ?? '').pathname).href;
    expect(text.match(/https?:/g)).toHaveLength(1);
    expect([...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => decode(href ?? ''))).toEqual([link, link]);
  });

  it('says the same in both parts, and whose it is', () => {
    const words = wordsOf(html);
    const said = [subject, style.name, ...message.paragraphs, ...(message.after ?? [])];
    for (const sentence of said) expect(words).toContain(sentence);
    for (const sentence of said.slice(1)) expect(text).toContain(sentence);
    for (const [label, value] of message.facts ?? []) {
      expect(text).toContain(`${label}: ${value}\n`);
      expect(words).toContain(`${label} ${value}`);
    }
    expect(text).toMatch(/\n\nYou received this email because .*\n\nChâteau & <Söhne>\n$/);
    expect(words).toContain('You received this email because');
  });

  it('loads nothing from anywhere, and has no script', () => {
    expect(html).not.toMatch(/<(img|script|link|iframe|object|form|base)\b|src=|url\(|@import|\son\w+=/i);
  });
});

it('names support only where pages have a link to it', () => {
  for (const kind of ['email_change_undone', 'factors_removed'] as const) {
    const say = (hasSupport: boolean) => buildNotice(kind, { ...notice, hasSupport }).paragraphs.join(' ');
    expect(say(true)).toContain('contact support: choose “Help”');
    expect(say(false)).not.toMatch(/contact|Help/);
  }
});

it('says on which day an account is deleted', () => {
  expect(messages.deletion_requested.paragraphs[0]).toContain('will do so on 16 January 2026 at 03:04 UTC.');
});

it('escapes every text that it is given', () => {
  const bad = `"><img src=x onerror='alert(1)'>&amp;`;
  const message = {
    subject: bad,
    paragraphs: [bad, bad],
    facts: [[bad, bad]] as [string, string][],
    action: { label: bad, url: `https://id.example.test/?${bad}` },
    after: [bad],
    why: bad,
  };
  const { html } = layOut(message, { ...style, name: bad });
  expect(html).not.toContain('<img');
  expect(html.match(/&quot;&gt;&lt;img src=x onerror=&#39;alert\(1\)&#39;&gt;&amp;amp;/g)).toHaveLength(13);
});
