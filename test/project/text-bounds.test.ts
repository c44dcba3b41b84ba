// Every text from outside has a bound (server/basics/text.ts): no other file of the service reads a request.
import { expect, it } from 'vitest';
import type { AnyAct } from '../../server/acts/act.ts';
import { billingBounds, textBounds } from '../../server/basics/text.ts';
import { signupSchema } from '../../server/billing/contracts/signup-message.ts';
import { appRouter } from '../../server/doors/trpc/router.ts';
import { profileEditSchema } from '../../server/identity/person/profile.ts';
import { marketplacePayloadSchema } from '../../server/marketplace/payload.ts';
import { acts } from '../../server/staff/acts.ts';
import { listUnbounded, readInputs, readShape } from '../support/faults/text-inputs.ts';
import { readSources } from '../support/project/source-rules.ts';

/** Files that take apart something other than a request to the service, or that belong to the demo. */
const others: Record<string, string> = {
  'clients/doctor/': 'reads the answers of clients',
  'server/doors/demo/': 'local mode only',
  'app/routes/demo.': 'local mode only',
  'server/settings/': 'reads settings',
  'server/clients/addresses.ts': 'reads addresses of clients',
  'server/mail/mailer.ts': 'reads a setting',
  'server/basics/text.ts': 'is the door',
  'server/web/requests.ts': 'is the door for forms and addresses',
};

const sources = readSources().filter(
  ({ file }) => !Object.keys(others).some((start) => file.startsWith(start)),
);

it('every request is read through the one door', () => {
  const ways = /\bheaders\.get\(|\bsearchParams\b|\.formData\(\)|request\.(?:text|json|arrayBuffer)\(\)/;
  const found = sources.filter(({ text }) => ways.test(text)).map(({ file }) => file);
  // app/pages.ts removes a parameter of Remix's own, without reading it. The cookie and the location are of our own answers.
  expect(found.sort()).toEqual(['app/pages.ts', 'server/web/answers.ts']);
});

it('no input makes a browser refuse an address that the service takes (contract 9.281)', () => {
  const refusing = readSources().filter(({ text }) => /type=["{' ]*email\b|type: '?email'?[,}\n]/.test(text));
  expect(refusing.map(({ file }) => file)).toEqual([]);
});

it('each field that is read has a bound, and each bound a field (contract 9.1)', () => {
  const calls =
    /(?:form|query|readQuery\((?:args\.)?request\)|params)\.(?:get|has)\('(\w+)'\)|(?:text\(form|read\w+\(params|readParameter\(readQuery\(request\)), '(\w+)'/g;
  // The check of an envelope bounds these three.
  const verified = ['payload', 'signature', 'signature_next'];
  // Only programs send these two members, to a procedure.
  const decided = ['what', 'decision'];
  // app/act-forms.ts passes the following fields to the acts.
  const passed = Object.values<AnyAct>(acts).flatMap(({ about, fields, formFields }) => [
    ...about.keys,
    ...Object.keys({ ...fields, ...formFields }),
  ]);
  // The form of billing settings and the form of names pass on their fields.
  const ofBilling = Object.keys(billingBounds);
  const edited = Object.keys(readShape(profileEditSchema).properties ?? {});
  const filters = /loadList\(\s*args,\s*\[([^\]]+)\]/g;
  const read = sources.flatMap(({ text }) => [
    ...[...text.matchAll(calls)].map(([, one, other]) => one ?? other ?? ''),
    ...[...text.matchAll(filters)].flatMap(([, names = '']) => names.match(/\w+/g) ?? []),
  ]);
  expect(read.length).toBeGreaterThan(50);
  expect(textBounds).toMatchObject({ email: 320, password: 1_024, name: 800, next: 8_192, passkey: 16_384 });
  expect([...new Set([...read, ...verified, ...decided, ...passed, ...edited, ...ofBilling])].sort()).toEqual(
    Object.keys(textBounds).sort(),
  );
});

it('each string in the input of a procedure, a signup and a hand-off has a bound', () => {
  const shapes = [
    ...readInputs(appRouter),
    ['signup', readShape(signupSchema)] as const,
    ['hand-off', readShape(marketplacePayloadSchema)] as const,
  ];
  expect(shapes.length).toBeGreaterThan(10);
  expect(shapes.flatMap(([name, shape]) => listUnbounded(shape, name))).toEqual([]);
});
