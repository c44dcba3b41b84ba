import { describe, expect, it } from 'vitest';
import type { MailKind } from '../../db/tables/mail-kinds.ts';
import type { Told } from '../../db/tables/take-back-changes.ts';
import { type BillingWords, billingMails } from '../../server/mail/billing-words.ts';
import { isPlain } from '../../server/mail/greeting.ts';
import { layOut, type MailMessage } from '../../server/mail/layout.ts';
import { letters } from '../../server/mail/letters.ts';
import { buildNotice, buildRest } from '../../server/mail/notices.ts';
import { buildAccent } from '../../server/settings/accent.ts';
import { linkIn } from '../support/people/mail-server.ts';

const baseUrl = 'https://id.example.test';
const notice = { baseUrl, at: '2026-01-02T03:04:05.000Z', device: 'Firefox on Linux', hasSupport: true };
const words = { link: `${baseUrl}/a?token=t&next=%2Fb`, life: '1 hour', name: 'Château & <Söhne>' };
const manager = { id: '0198c1d2-0000-7000-8000-000000000001', name: 'manager@example.test' };
const admin = 'admin@example.test';
const takeBack = { link: `${baseUrl}/take-back?token=t`, until: '2026-01-09T03:04:05.000Z' };
const supportUrl = 'mailto:help%2Bid@example.test?subject=Login';
const style = { name: words.name, accent: buildAccent('#14594a'), baseUrl, supportUrl };

const money: BillingWords = {
  baseUrl,
  seller: 'Blumen & <Söhne>',
  number: 'INV-2026-0001',
  invoice: 'INV-2026-0001',
  replaces: undefined,
  plan: 'Starter & <more>',
  period: '1 January 2026 to 31 January 2026',
  total: 'EUR 34.51',
  open: 'EUR 34.51',
  due: '14 January 2026',
  received: 'EUR 10.00',
  pays: undefined,
  lastDay: '31 January 2026',
  isBySupport: false,
  hasSupport: true,
  price: 'EUR 29.00 a month',
  mayCancel: true,
  pdf: 'attached',
};
const paid = { ...money, open: undefined };
const bySupport = { ...money, isBySupport: true };

type BillingSpecial =
  | 'invoice_issued that is paid'
  | 'invoice_issued without its PDF'
  | 'payment_received of all'
  | 'contract_cancel_asked at once'
  | 'contract_cancel_asked by staff'
  | 'contract_cancel_asked by staff at once';

type Special = `${Told | 'rest'} with a take-back link` | 'rest';

const messages: Record<MailKind | Special | BillingSpecial, MailMessage> = {
  welcome: letters.welcome.build(words),
  set_password: letters.set_password.build(words),
  prove_address: letters.prove_address.build(words),
  verify_email: letters.verify_email.build(words),
  sign_up: letters.sign_up.build(words),
  account_exists: letters.account_exists.build(words),
  invitation: letters.invitation.build({ ...words, role: 'manager' }),
  change_email: letters.change_email.build(words),
  new_address: letters.new_address.build(words),
  stop_new_address: letters.stop_new_address.build(words),
  invoice_email: letters.invoice_email.build(words),
  account_frozen: buildNotice('account_frozen', notice),
  account_thawed: buildNotice('account_thawed', notice),
  authenticator_added: buildNotice('authenticator_added', notice),
  authenticator_removed: buildNotice('authenticator_removed', notice),
  codes_guessed: buildNotice('codes_guessed', notice),
  factors_removed: buildNotice('factors_removed', notice),
  invoice_email_changed: buildNotice('invoice_email_changed', notice),
  link_removed: buildNotice('link_removed', notice),
  recovery_code_used: buildNotice('recovery_code_used', notice),
  recovery_codes_made: buildNotice('recovery_codes_made', notice),
  rights_decided: buildNotice('rights_decided', notice),
  role_changed: buildNotice('role_changed', notice),
  sessions_ended: buildNotice('sessions_ended', notice),
  bank_details_changed: buildNotice('bank_details_changed', { ...notice, countsAt: notice.at }),
  invitation_sent: buildNotice('invitation_sent', { ...notice, by: admin, role: 'manager' }),
  invitation_taken: buildNotice('invitation_taken', { ...notice, who: manager, by: admin, role: 'admin' }),
  person_frozen: buildNotice('person_frozen', { ...notice, who: manager, by: admin }),
  role_granted: buildNotice('role_granted', { ...notice, who: manager, by: admin, role: 'admin' }),
  billing_texts_changed: buildNotice('billing_texts_changed', { ...notice, by: admin, what: 'name payment' }),
  staff_limited: buildNotice('staff_limited', { ...notice, who: manager }),
  account_deleted: buildNotice('account_deleted', notice),
  account_linked: buildNotice('account_linked', notice),
  account_resumed: buildNotice('account_resumed', notice),
  account_suspended: buildNotice('account_suspended', notice),
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
  invoice_issued: billingMails.invoice_issued(money),
  'invoice_issued that is paid': billingMails.invoice_issued(paid),
  'invoice_issued without its PDF': billingMails.invoice_issued({ ...money, pdf: 'unverified' }),
  invoice_reminder_1: billingMails.invoice_reminder_1(money),
  invoice_reminder_2: billingMails.invoice_reminder_2(money),
  payment_received: billingMails.payment_received(money),
  'payment_received of all': billingMails.payment_received({ ...paid, pays: 'EUR 9.00' }),
  credit_note_issued: billingMails.credit_note_issued({ ...money, number: 'CN-2026-0001' }),
  trial_ends: billingMails.trial_ends(money),
  contract_cancel_asked: billingMails.contract_cancel_asked(money),
  'contract_cancel_asked at once': billingMails.contract_cancel_asked({ ...money, lastDay: undefined }),
  'contract_cancel_asked by staff': billingMails.contract_cancel_asked(bySupport),
  'contract_cancel_asked by staff at once': billingMails.contract_cancel_asked({
    ...bySupport,
    lastDay: undefined,
  }),
  contract_kept: billingMails.contract_kept(money),
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

const wordsOf = (html: string) =>
  decode(html.replace(/<(style|title)>[\s\S]*?<\/\1>/g, '').replace(/<[^>]+>/g, ' ')).replace(/\s+/g, ' ');

const linksOf = (html: string) => [...html.matchAll(/href="([^"]*)"/g)].map(([, href]) => decode(href ?? ''));

describe.each(Object.entries(messages))('the mail %s', (_, message) => {
  const { subject, text, html } = layOut(message, style);

  it('has one action: a line of the text, and in the HTML a button and the same as text', () => {
    const link = linkIn({ text }, new URL(message.action?.url ?? '').pathname).href;
    // Besides the action, only the foot of the mail has links.
    expect(text.match(/https?:\S+/g)).toEqual([link, baseUrl]);
    expect(linksOf(html)).toEqual([link, link, baseUrl, supportUrl]);
  });

  it('has the name of the service in its subject, after what it is about (contract 9.230)', () => {
    expect(subject).toBe(`${message.subject} – Château & <Söhne>`);
    expect(decode(html)).toContain(`<title>${subject}</title>`);
    expect(decode(/<h1 [^>]*>([^<]*)</.exec(html)?.[1] ?? '')).toBe(message.subject);
  });

  it('says the same in both parts, and whose it is (contract 9.124 and 9.230)', () => {
    const words = wordsOf(html);
    const said = ['Hello,', ...message.paragraphs, ...(message.after ?? [])];
    for (const sentence of said) expect(words).toContain(sentence);
    for (const sentence of said) expect(text).toContain(sentence);
    for (const [label, value] of message.facts ?? []) {
      expect(text).toContain(`${label}: ${value}\n`);
      expect(words).toContain(`${label} ${value}`);
    }
    const foot = [
      'You received this email because .*',
      '',
      `Sent by Château & <Söhne>: ${baseUrl}`,
      'Support: help\\+id@example.test',
    ];
    expect(text).toMatch(new RegExp(`\n\n${foot.join('\n')}\n$`));
    expect(words).toMatch(new RegExp(`${foot.filter(Boolean).join(' ')} $`));
  });

  it('loads nothing from anywhere, and has no script (contract 9.124)', () => {
    expect(html).not.toMatch(/<(img|script|link|iframe|object|form|base)\b|src=|url\(|@import|\son\w+=/i);
  });
});

it('names support only where the foot says how to reach it', () => {
  for (const kind of ['email_change_undone', 'factors_removed'] as const) {
    const say = (hasSupport: boolean) => {
      const message = buildNotice(kind, { ...notice, hasSupport });
      return layOut(message, { ...style, supportUrl: hasSupport ? supportUrl : undefined }).text;
    };
    expect(say(true)).toMatch(/contact support\..*Support: help\+id@example\.test\n$/s);
    expect(say(false)).not.toMatch(/contact|Support:/);
    expect(say(false)).toMatch(new RegExp(`: ${baseUrl}\n$`));
  }
});

it('writes an address of support as it is', () => {
  const page = 'https://help.example.test/contact?from=id&page=1';
  const { text, html } = layOut(messages.welcome, { ...style, supportUrl: page });
  expect(text).toContain(`\nSupport: ${page}\n`);
  expect(linksOf(html)).toContain(page);
});

it('names the product that a link leads on to', () => {
  const kinds = ['set_password', 'prove_address', 'verify_email', 'sign_up', 'account_exists'] as const;
  for (const kind of kinds) {
    const say = (product?: string) => layOut(letters[kind].build({ ...words, product }), style).text;
    expect(say('Shop & Söhne')).toContain(' You will then go on to Shop & Söhne.');
    expect(say()).not.toContain('go on to');
  }
});

it('greets by the name that it is given', () => {
  const { text, html } = layOut(messages.set_password, style, 'Zoë O’Neil');
  expect(text.startsWith('Hello Zoë O’Neil,\n')).toBe(true);
  expect(wordsOf(html)).toContain('Hello Zoë O’Neil,');
});

it.each([
  ...[
    'Zoë',
    'Zoë O’Neil',
    "Zoë O'Neil",
    'Anne-Marie',
    'J. R. Smith',
    'St. John',
    'Ana María',
    '花 子',
    'नमिता',
  ],
])('%s can be a greeting', (name) => expect(isPlain(name)).toBe(true));

it.each([
  ...[
    'evil.example',
    'Click http://evil.example',
    'a@b.example',
    'Call 0900 123',
    '٠٩٠٠',
    'www. evil .example',
  ],
  ...['Zoë, your account', 'Zoë\nHello', 'Zoë: go', 'a/b', '<b>', 'Zoë!', '', ' Zoë', '🎁', 'z'.repeat(61)],
])('%j cannot', (name) => expect(isPlain(name)).toBe(false));

it('says on which day an account is deleted', () => {
  expect(messages.deletion_requested.paragraphs[0]).toContain(
    'We will delete it on 16 January 2026 at 03:04 UTC.',
  );
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
  const { html } = layOut(message, { ...style, name: bad, baseUrl: bad, supportUrl: bad }, bad);
  expect(html).not.toContain('<img');
  expect(html.match(/&quot;&gt;&lt;img src=x onerror=&#39;alert\(1\)&#39;&gt;&amp;amp;/g)).toHaveLength(20);
});
