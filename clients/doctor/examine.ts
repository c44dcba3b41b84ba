// Examines one client: first its secret, then one genuine login, and then everything else, a few requests at the same time.
import { probeAddresses, probeLineBreaks, probeOddJson } from './addresses.ts';
import { probeCaches } from './caches.ts';
import { forgetPeople, probeEventEffects } from './event-effects.ts';
import { probeEvents } from './events.ts';
import { type Exam, openExam, tryOut } from './exam.ts';
import { playGenuine } from './genuine.ts';
import { probeIdentities } from './identities.ts';
import { probeKnownKeys } from './keys.ts';
import { probeLeeway } from './leeway.ts';
import { probeLogOuts } from './log-outs.ts';
import { probeMarkup } from './markup.ts';
import { UnreachableError } from './network.ts';
import { prepareLateReplay, probeNonces } from './nonces.ts';
import { type Finding, makePrintable, type Unseen } from './notes.ts';
import { probeProfiles } from './profiles.ts';
import { findHeldSecrets } from './secrets.ts';
import { probeSessions } from './sessions.ts';
import { probeSingleHandOffs } from './single-hand-offs.ts';
import { probeStates } from './states.ts';
import { CannotExamineError, type Target, type Tools } from './target.ts';
import { probeErrorInSession, probeVisits } from './visits.ts';

const renewWithinDays = 14;
const dayMs = 86_400_000;

export type Report = {
  client: string;
  issuer: string;
  callbackUrl: string;
  loginUrl: string;
  eventsUrl: string | undefined;
  /** The same as `demoUnless` of the target. */
  demoUnless: string | undefined;
  /** The verdict (contract 3.36). For `not_examined` and `not_sure`, `reason` says why. */
  verdict: 'right' | 'wrong' | 'not_examined' | 'not_sure';
  reason: string | undefined;
  /** How many secrets the settings have for this client. */
  secretCount: number;
  /** Which of these secrets the client holds, counted from 1. Empty if that is not known. */
  holdsSecrets: number[];
  /** How many seconds the client's clock is ahead of ours, if the doctor could measure it. */
  clockAheadSeconds: number | undefined;
  hasEvents: boolean;
  findings: Finding[];
  unseen: Unseen[];
  requests: number;
  tookMs: number;
};

export async function examine(target: Target, tools: Tools): Promise<Report> {
  const startedAt = performance.now();
  const exam = await openExam(target, tools);
  const { notes, network } = exam;
  let seen: Awaited<ReturnType<typeof runProbes>> = {};
  let reason: string | undefined;
  try {
    seen = await runProbes(exam);
  } catch (error) {
    if (error instanceof CannotExamineError) reason = makePrintable(error.message);
    else if (error instanceof UnreachableError)
      reason = makePrintable(`The client did not answer: ${error.message}.`);
    else throw error;
  } finally {
    await exam.end();
    await forgetPeople(exam);
  }
  const findings = notes.listFindings();
  const isWrong = findings.some(({ group }) => group !== 'advice');
  const unsure = reason === undefined && !isWrong ? notes.findDoubt() : undefined;
  return {
    client: target.client,
    issuer: target.issuer,
    callbackUrl: target.callbackUrl,
    loginUrl: target.loginUrl,
    eventsUrl: target.eventsUrl,
    demoUnless: target.demoUnless,
    verdict: isWrong
      ? 'wrong'
      : reason !== undefined
        ? 'not_examined'
        : unsure !== undefined
          ? 'not_sure'
          : 'right',
    reason: reason ?? unsure,
    secretCount: target.secrets.length,
    holdsSecrets: (seen.held ?? []).map((secret) => target.secrets.indexOf(secret) + 1),
    clockAheadSeconds: seen.clockAheadSeconds,
    hasEvents: tools.events !== undefined,
    findings,
    unseen: notes.listUnseen(),
    requests: network.countRequests(),
    tookMs: Math.round(performance.now() - startedAt),
  };
}

async function runProbes(
  exam: Exam,
): Promise<{ held?: readonly string[]; clockAheadSeconds?: number | undefined }> {
  if (!(await checkCertificates(exam))) return {};
  exam.held = await findHeldSecrets(exam);
  if (exam.held.length === 0) return {};
  const genuine = await playGenuine(exam);
  // The login has failed. If the client's refusals have no codes, nothing has shown whether the client holds the secret.
  if (!genuine) return exam.notes.hasFound('refusal_code_missing') ? {} : { held: exam.held };
  let replayLate = async () => {};
  await tryOut(exam, ['nonce_kept_too_short'], async () => {
    replayLate = await prepareLateReplay(exam);
  });
  await Promise.all([
    probeKnownKeys(exam),
    probeNonces(exam),
    probeStates(exam),
    probeIdentities(exam),
    probeSingleHandOffs(exam),
    probeLeeway(exam),
    probeAddresses(exam),
    probeMarkup(exam),
    probeSessions(exam),
    probeVisits(exam),
    probeOddJson(exam),
    probeEvents(exam),
    probeLogOuts(exam),
  ]);
  await tryOut(exam, ['nonce_kept_too_short'], replayLate);
  await tryOut(exam, ['second_submit_logs_out'], () => probeErrorInSession(exam));
  await probeProfiles(exam);
  await probeCaches(exam);
  await probeLineBreaks(exam);
  await probeEventEffects(exam);
  const clockAheadSeconds = exam.aheadSeconds || genuine.outcome.answer.clockOffset;
  return { held: exam.held, clockAheadSeconds };
}

/** False if browsers refuse a certificate that a login needs. Then our requests would fail, too. */
async function checkCertificates({ target, tools, notes }: Exam): Promise<boolean> {
  const { callbackUrl, loginUrl, eventsUrl } = target;
  let isUsable = true;
  const checked = new Set<string>();
  for (const address of [callbackUrl, loginUrl, eventsUrl]) {
    const url = address && new URL(address);
    if (!url || !tools.readCertificate || url.protocol !== 'https:' || checked.has(url.host)) continue;
    checked.add(url.host);
    const certificate = await tools.readCertificate(url);
    if (!certificate) throw new CannotExamineError(`Nothing answers at ${url.origin}.`);
    const { fault, validUntil } = certificate;
    if (fault !== undefined) {
      notes.find('certificate_wrong', { saw: `The certificate of ${url.host} ${fault}.` });
      isUsable = isUsable && address === eventsUrl;
    }
    const days = validUntil && Math.floor((validUntil.getTime() - tools.now().getTime()) / dayMs);
    if (fault === undefined && days !== undefined && days < renewWithinDays)
      notes.find('certificate_expires', {
        saw: `The certificate of ${url.host} is valid for ${days} more days.`,
      });
  }
  return isUsable;
}
