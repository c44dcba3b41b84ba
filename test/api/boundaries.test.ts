// The schemas of the OpenAPI document agree with the service's own checks, just inside and just outside of each limit.
import { beforeAll, describe, expect, it } from 'vitest';
import type { OpenApi } from '../../server/doors/openapi/document.ts';
import { openApp } from '../support/app/app.ts';
import {
  type Checker,
  createChecker,
  listOperations,
  readDocument,
  readPlain,
} from '../support/app/openapi.ts';
import { buildRawSignup } from '../support/crm/raw-signups.ts';
import { memberCases } from '../support/crm/refused-signup-members.ts';
import { bearerOf } from '../support/events/events.ts';
import { quote } from '../support/run/names.ts';
import { shared } from '../support/run/shared.ts';

let document: OpenApi;
let checker: Checker;
const app = shared(openApp);
beforeAll(async () => {
  document = await readDocument(app);
  checker = createChecker(document);
});

const numbers = ['0', '1', '-1', '1.5', '', 'x', '9007199254740991', '9007199254740992'];
const paths = [
  ...['/', '/x', '/x?y=1#z', 'x', '', '//x', '/\\x', '/x\\y', '/x\u0000', '/x\u0085', '/é', '/ '],
  ...[`/${'a'.repeat(2_047)}`, `/${'a'.repeat(2_048)}`],
];

const values: [operationId: string, parameter: string, values: string[]][] = [
  ['launch', 'state', ['', 'a', 'aZ09._~-', 'a'.repeat(512), 'a'.repeat(513), 'a b', 'é', 'a/b', 'a\n']],
  ['launch', 'return_to', paths],
  ['launch', 'prompt', ['none', 'login', '', 'NONE', 'consent']],
  ['launch', 'max_age', [...numbers, '2592000', '2592001']],
  ['launch', 'auth_after', numbers],
  ['logout', 'return_to', paths],
  ['pullEvents', 'limit', [...numbers, '1000', '1001']],
  // Waits of 1 to 25 seconds are left out, because each would take that long.
  ['pullEvents', 'wait', ['0', '-1', '26', '1.5', 'x', '']],
  ['pullEvents', 'after', numbers],
  ['listContracts', 'limit', [...numbers, '1000', '1001']],
  ['listContracts', 'after', ['', 'x', '1']],
];

const requestOf = (operationId: string): [path: string, headers: Record<string, string>] => {
  if (operationId === 'pullEvents') return ['/sso/events?', bearerOf(app, 'network_site')];
  if (operationId === 'listContracts') return ['/integrations/crm/contracts?', bearerOf(app, 'crm_app')];
  return [operationId === 'logout' ? '/logout?client=marketplace&' : '/sso/launch/marketplace?', {}];
};

describe.each(values)('%s takes as %s', (operationId, name, all) => {
  it.each(all.map((value) => [quote(value), value]))('%s where the document does', async (_, value) => {
    const place = listOperations(document.paths).find(
      ({ operation }) => operation.operationId === operationId,
    );
    const schema = place?.operation.parameters?.find((each) => each.name === name)?.schema;
    expect(schema).toBeDefined();
    const isRight = checker.check(schema ?? {}, readPlain(schema ?? {}, value)).length === 0;
    const [path, headers] = requestOf(operationId);
    const answer = await app.send(`${path}${new URLSearchParams({ [name]: value })}`, { headers });
    expect(answer.status !== 400, answer.text).toBe(isRight);
  });
});

/** Names of the cases in test/support/crm/refused-signup-members.ts that break a limit which no schema of a signup can state. */
const onlyInWords = [
  /^occurred_at: (before 2000|an unset clock|301 s ahead|a millisecond more)/,
  /^contract\.trial_ends_at: (before|equal to) occurred_at/,
  /: in the year 0000/,
  /^contract\.price\.currency: (no longer assigned|without a minor unit|for gold|unknown)/,
  /^user\.email: (?!missing|null|a number|a list|an object|true)/,
  /^(user|account)\.name: (of|with) /,
];

describe('a signup that is refused', () => {
  const now = Math.floor(Date.now() / 1_000);
  it('is refused by its schema, too, or the document says why in words', () => {
    const schema = { $ref: '#/components/schemas/Signup' };
    expect(checker.check(schema, buildRawSignup(now, 'right'))).toEqual([]);
    const taken = memberCases(now).filter(({ signup: change, text }) => {
      const signup = buildRawSignup(now, 'right');
      change?.(signup);
      const json = JSON.stringify(signup);
      return checker.check(schema, JSON.parse(String(text?.(json) ?? json))).length === 0;
    });
    const unexpected = taken
      .map(({ why }) => why)
      .filter((why) => !onlyInWords.some((each) => each.test(why)));
    expect(unexpected).toEqual([]);
    expect(memberCases(now).length - taken.length).toBeGreaterThan(90);
  });
});
