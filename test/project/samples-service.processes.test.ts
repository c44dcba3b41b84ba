// The samples that call the service: the legacy marketplace and the CRM.
import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listen } from '../../server/runtime/listen.ts';
import { openApp, type TestApp } from '../support/app/app.ts';
import { findFreePort } from '../support/app/process.ts';
import { openHandOff } from '../support/marketplace/marketplace.ts';
import { readOurFile } from '../support/project/documents.ts';
import { hasTools, importSample, runPhp, runShell, toPhp } from '../support/project/run-sample.ts';
import {
  answerSample,
  contractsSample,
  curlSample,
  inboundSample,
  linkSample,
  phpLinkSample,
  pulledSample,
  pullSample,
  pushSample,
  signupSample,
} from '../support/project/samples.ts';

const hasPhp = await hasTools('php');
const hasCurl = await hasTools('curl', 'openssl', 'base64', 'od');

let app: TestApp;
let baseUrl: string;
let close: () => Promise<void>;
beforeAll(async () => {
  const port = await findFreePort();
  app = await openApp({ env: { PORT: String(port) } });
  baseUrl = app.config.baseUrl;
  const listener = await listen(app.fetch, { host: '127.0.0.1', port });
  close = async () => {
    await listener.close(1_000);
    await app.close();
  };
});
afterAll(() => close());

describe('the legacy marketplace', () => {
  const profile = (id: string) => ({ ...JSON.parse(inboundSample).profile, id, email: `${id}@example.test` });

  it('hands somebody over in JavaScript', async () => {
    const { buildHandOffLink } = await importSample(linkSample);
    const { issuer, secrets: [secret] = [] } = app.config.marketplaceInbound ?? {};
    expect(readOurFile('docs/migrate.md')).toContain(`issuer is \`${issuer}\` and the secret \`${secret}\``);
    const options = { baseUrl, issuer, secret, returnTo: '/profile?saved=names' };
    const answer = await openHandOff(app, buildHandOffLink(profile('m-1'), options));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile?saved=names']);
  });

  it.runIf(hasPhp)('hands somebody over in PHP', async () => {
    const { issuer, secrets: [secret] = [] } = app.config.marketplaceInbound ?? {};
    const words = [profile('m-2'), baseUrl, issuer, secret, '/profile'].map(toPhp);
    const [link] = await runPhp(phpLinkSample, [`build_hand_off_link(${words.join(', ')})`]);
    const answer = await openHandOff(app, String(link));
    expect([answer.status, answer.headers.get('location')]).toEqual([303, '/profile']);
  });
});

describe('the CRM', () => {
  it('sends a signup in JavaScript', async () => {
    const { pushSignup } = await importSample(pushSample);
    const secret = app.config.crmSignupsSecrets?.[0];
    const first = await pushSignup(baseUrl, secret, 'msg_1', JSON.parse(signupSample));
    expect(first).toMatchObject({ status: 201, answer: { signup_id: 'crm_1001', user: { created: true } } });
    expect(shapeOf(first.answer)).toEqual(shapeOf(JSON.parse(answerSample)));
    expect(await pushSignup(baseUrl, secret, 'msg_1', JSON.parse(signupSample))).toEqual(first);
  });

  it('reads the contracts in JavaScript, and goes on from where it was', async () => {
    const { pullContracts } = await importSample(pullSample);
    const pushes = await importSample(pushSample);
    const kept: object[] = [];
    const pull = (after?: string): Promise<string> =>
      pullContracts(baseUrl, app.config.clients.get('crm_app')?.secrets[0], after, (page: object[]) =>
        kept.push(...page),
      );
    const push = (signup_id: string) => {
      const signup = { ...JSON.parse(signupSample), signup_id };
      const trial_ends_at = '2999-01-01T00:00:00.000Z';
      const contract = { ...signup.contract, trial_ends_at };
      return pushes.pushSignup(baseUrl, app.config.crmSignupsSecrets?.[0], signup_id, {
        ...signup,
        contract,
      });
    };
    await push('crm_2001');
    const cursor = await pull();
    expect(shapeOf(kept.at(-1))).toEqual(shapeOf(JSON.parse(contractsSample).contracts[0]));
    expect(kept.at(-1)).toMatchObject({ signup_id: 'crm_2001', id: cursor, status: 'trialing' });
    kept.splice(0);
    await push('crm_2002');
    expect(await pull(await pull(cursor))).not.toBe(cursor);
    expect(kept).toMatchObject([{ signup_id: 'crm_2002' }]);
  });

  it.runIf(hasCurl)('sends a signup with curl and openssl', async () => {
    const script = curlSample.replace('http://localhost:3000', baseUrl).replaceAll('crm_1001', 'crm_1002');
    expect(await runShell(script)).toMatch(/^HTTP\/1\.1 201 Created[\s\S]*"signup_id":"crm_1002"/);
  });
});

it('a pull of events is answered as docs/events.md shows', async () => {
  const secret = app.config.clients.get('network_site')?.secrets[0] ?? '';
  const token = createHmac('sha256', secret).update('identity events v1 network_site').digest('hex');
  const headers = { authorization: `Bearer ${token}` };
  const { status, text } = await app.send('/sso/events?after=0&limit=1000', { headers });
  expect(status).toBe(200);
  expect(shapeOf(JSON.parse(text))).toEqual(shapeOf(JSON.parse(pulledSample)));
});

/** Returns the members of a value, with the type of each. */
function shapeOf(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, shapeOf(member)]));
}
