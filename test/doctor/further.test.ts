// What the doctor finds beyond the thirty faults: cookies, headers, loops, nudges, and clients that refuse what is right.
import { expect, it } from 'vitest';
import { examine } from '../../clients/doctor/examine.ts';
import { type FindingId, groupOf } from '../../clients/doctor/findings.ts';
import { shared } from '../support/run/shared.ts';
import { faultsOf } from './harness/broken.ts';
import { startClients, targetOf } from './harness/clients.ts';

const clients = shared(() => startClients('typescript'));

/** Findings that the doctor can make only on a page that names the person. */
const peopleOnly = [
  ...['linked_by_email', 'older_profile_applied', 'newer_profile_ignored', 'role_kept'],
  ...['session_guessable', 'session_forgeable'],
];

const run = (name: string) => examine(targetOf(clients.base, name), { fetch, now: () => new Date() });

it.each<[FindingId, ...follows: FindingId[]]>([
  ['attempt_cookie_strict'],
  ['crashes'],
  ['error_loops'],
  ['earlier_login_kept'],
  ['events_nudge_refused'],
  ['events_second_signature_ignored'],
  ['events_signature_not_checked'],
  ['events_timestamp_not_checked'],
  ['host_followed'],
  ['json_too_deep'],
  ['key_known'],
  ['launch_elsewhere'],
  ['launch_id_wrong'],
  ['login_start_cached'],
  ['name_refused'],
  ['newer_profile_ignored'],
  ['nonce_before_state', 'unsolicited_uses_nonce'],
  ['nonce_kept_too_short'],
  ['nonce_mistaken'],
  ['optional_member_demanded'],
  ['page_cached'],
  ['referrer_sent'],
  ['role_kept'],
  ['second_submit_logs_out'],
  ['session_cookie_cross_site'],
  ['session_cookie_readable'],
  ['session_fixed'],
  ['session_not_kept'],
  ['speculative_logs_in'],
  ['speculative_uses_nonce'],
  ['state_guessable'],
  ['state_unknown_loops'],
  ['unknown_member_refused'],
  ['unsolicited_refused'],
  ['unsolicited_uses_nonce'],
])('finds %s', async (name, ...follows) => {
  expect(faultsOf(await run(name))).toEqual([name, ...follows].sort());
});

it.each<[name: string, FindingId]>([
  ['error_logs_out', 'second_submit_logs_out'],
  ['few_nonces', 'nonce_kept_too_short'],
  ['issuer_in_part', 'issuer_not_checked'],
  ['login_leads_on', 'return_to_open'],
  ['name_in_header', 'crashes'],
  ['page_not_checked', 'return_to_open'],
  ['person_for_all', 'people_mixed'],
  ['whole_seconds', 'newer_profile_ignored'],
  ['name_unescaped', 'text_unescaped'],
  ['reason_unescaped', 'text_unescaped'],
  ['session_kept', 'session_fixed'],
  ['signature_may_be_empty', 'mac_not_checked'],
])('finds %s', async (name, finding) => {
  expect(faultsOf(await run(name))).toEqual([finding]);
});

it.each<[name: string, ...unseen: FindingId[]]>([
  ['html'],
  ['features'],
  ['lists_logins'],
  ['goes_on'],
  ['says_once', 'role_kept'],
  ['logs_out', 'role_kept'],
])('finds nothing at a client that is right in its own way: %s', async (name, ...unseen) => {
  const report = await run(name);
  expect(report).toMatchObject({ verdict: 'right', findings: [] });
  expect(report.unseen.map(({ id }) => id)).toEqual(unseen);
});

it('finds a role that is kept where a page shows only what it is good for', async () => {
  const report = await run('features_kept');
  expect(report.findings).toMatchObject([{ id: 'role_kept', saw: expect.stringContaining('sell') }]);
});

it.each<[FindingId]>([['refusal_status'], ['same_site_missing'], ['log_out_keeps_session']])(
  'advises against %s',
  async (name) => {
    const report = await run(name);
    expect(report.findings.map(({ id }) => id)).toEqual([name]);
    expect(groupOf(name)).toBe('advice');
    expect(report.verdict).toBe('right');
  },
);

it('says where a hand-off without a state is led to another origin, and does not advise a 4xx for it', async () => {
  const { findings } = await run('other_origin');
  const elsewhere = clients.base.replace('127.0.0.1', 'localhost');
  expect(findings).toEqual([
    expect.objectContaining({
      id: 'unsolicited_refused',
      saw: expect.stringContaining(`303 to ${elsewhere}/other_origin/login`),
      remedy: expect.stringContaining(`Your callback leads to ${elsewhere}, which is not its own origin`),
    }),
  ]);
});

it('says that a client could not finish where it answers a nudge with a 5xx', async () => {
  const { findings } = await run('pull_failed');
  expect(findings).toEqual([
    expect.objectContaining({
      id: 'events_nudge_refused',
      remedy: expect.stringContaining('It may have failed to pull its events'),
    }),
  ]);
  const [refused] = (await run('events_nudge_refused')).findings;
  expect(refused?.remedy).not.toContain('pull');
});

it('finds nothing at a client whose callback leads on to another host', async () => {
  expect((await run('leads_elsewhere')).findings).toEqual([]);
});

it('finds nothing at a client that sets its session for two paths', async () => {
  expect((await run('two_paths')).findings).toEqual([]);
});

it('says what it could not see where no page names the person, and finds the rest all the same', async () => {
  const report = await run('people_not_shown');
  expect(report.findings).toEqual([]);
  expect(report.unseen.map(({ id }) => id)).toEqual(expect.arrayContaining(peopleOnly));
  expect(report.verdict).toBe('not_sure');
});

it('says that a client had too many requests, and accuses it of nothing else', async () => {
  const report = await run('rate_limited');
  expect(report.findings.map(({ id }) => id)).toEqual(['rate_limited']);
  expect(report.verdict).toBe('not_sure');
  expect(report.unseen.length).toBeGreaterThan(5);
});
