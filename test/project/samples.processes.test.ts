// The samples of JSON, SQL and shell in our documents. samples-service.test.ts has the samples that call the service.
import { rm, writeFile } from 'node:fs/promises';
import { CompiledQuery } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { z } from 'zod';
import type { DatabaseClient } from '../../db/postgres/client.ts';
import { openCrmView } from '../../server/billing/contracts/crm-view.ts';
import { chargeSchema, readSignup } from '../../server/billing/contracts/signup-message.ts';
import { changedInvoicesSchema } from '../../server/billing/payments/changed-invoices.ts';
import { paymentAnswerSchema } from '../../server/billing/payments/payment-answer.ts';
import { readPaymentFile } from '../../server/billing/payments/payment-file.ts';
import { readPayment } from '../../server/billing/payments/payment-message.ts';
import { readSettings } from '../../server/billing/settings/settings.ts';
import { statementTimeoutMs } from '../../server/instance/instance.ts';
import { marketplacePayloadSchema, marketplaceProfileSchema } from '../../server/marketplace/payload.ts';
import { readBytes } from '../../server/runtime/files.ts';
import { readConfig } from '../../server/settings/config.ts';
import { payloadSchema } from '../../server/sso/payload.ts';
import { readClientFile } from '../../server/staff/apply-clients.ts';
import { production } from '../support/app/settings.ts';
import { connect, emptyDatabase, makeFolder } from '../support/database/postgres.ts';
import { isOurFile, readOurFile } from '../support/project/documents.ts';
import { runShell } from '../support/project/run-sample.ts';
import {
  billingSettingsSample,
  changedInvoicesSample,
  chargesSample,
  clientsFileSample,
  commandSamples,
  contractPaymentSample,
  contractSignupSample,
  importSample,
  inboundSample,
  listLeftSamples,
  noncesSample,
  payloadSample,
  paymentAnswerSample,
  paymentSample,
  paymentsSample,
  reconcileCsvSample,
  reconcileSample,
  refundSample,
  signupSample,
  timeoutsSample,
} from '../support/project/samples.ts';

it('none is left out, and none lacks a language', () => {
  expect(listLeftSamples()).toEqual([]);
});

describe('the JSON', () => {
  it('of a hand-off is a payload', () => {
    expect(payloadSchema.parse(JSON.parse(payloadSample))).toEqual(JSON.parse(payloadSample));
  });

  it('of clients can be applied', async () => {
    // Reading a file sends no query to the database.
    const deps = { config: readConfig(production), now: () => new Date(), db: undefined as never };
    const read = await readClientFile(deps, new TextEncoder().encode(clientsFileSample));
    expect([read.entries.map(({ name }) => name), read.faults]).toEqual([['shop', 'till'], []]);
  });

  it('of an inbound hand-off is a payload of the marketplace', () => {
    expect(marketplacePayloadSchema.safeParse(JSON.parse(inboundSample)).error).toBeUndefined();
  });

  it('of an import is a profile on one line', () => {
    expect(importSample.trim()).not.toContain('\n');
    expect(marketplaceProfileSchema.safeParse(JSON.parse(importSample)).error).toBeUndefined();
  });

  it.each([signupSample, contractSignupSample])('of a signup is one', (json) => {
    const signup = readSignup(new TextEncoder().encode(json), new Date());
    expect(signup).toMatchObject({ signup_id: 'crm_1001' });
  });
});

it('charges of the CRM and invoices for a payment provider are right', () => {
  expect(z.array(chargeSchema).parse(JSON.parse(chargesSample))).toHaveLength(3);
  expect(changedInvoicesSchema.parse(JSON.parse(changedInvoicesSample))).toEqual(
    JSON.parse(changedInvoicesSample),
  );
});

it.each([paymentSample, refundSample, contractPaymentSample])('a report of money is one', (json) => {
  expect(readPayment(new TextEncoder().encode(json), new Date()).id).toMatch(/^(?:pay|ref)_200\d$/);
});

it('the answer to a report of money is one', () => {
  const answer = JSON.parse(paymentAnswerSample);
  expect(paymentAnswerSchema.parse(answer)).toEqual(answer);
});

it('the settings of billing are settings', () => {
  expect(readSettings(JSON.parse(billingSettingsSample)).numbers.invoice).toBe('INV-');
});

it('the payments from the bank can be read', async () => {
  const { payments, faults } = await readPaymentFile(new TextEncoder().encode(paymentsSample), '2026-11-26');
  expect(faults).toEqual([]);
  expect(payments.map(({ number, amount }) => [number, amount])).toEqual([
    ['INV-2026-0001', 3_451],
    [null, 1_200],
  ]);
});

it.each([reconcileSample, reconcileCsvSample])('the view of the CRM can be read', async (sample) => {
  const folder = await makeFolder();
  const file = `${folder}/contracts`;
  await writeFile(file, sample);
  const lines = [];
  for await (const line of await openCrmView(readBytes(file))) lines.push(line);
  await rm(folder, { recursive: true });
  expect(lines).toMatchObject([
    { signupId: 'crm_1001', view: { plan: 'starter', price: { unit_amount: 2_900 } } },
    { signupId: 'crm_1002', view: { status: 'canceled', price: null } },
  ]);
});

describe('the SQL', () => {
  let database: Awaited<ReturnType<typeof emptyDatabase>>;
  let client: DatabaseClient;
  beforeAll(async () => {
    database = await emptyDatabase(inject('templateUrl'));
    client = connect(database.url, { statementTimeoutMs });
  });
  afterAll(async () => {
    await client.close();
    await database.drop();
  });
  const query = (text: string, values: unknown[] = []) =>
    client.db.executeQuery<object>(CompiledQuery.raw(text, values));

  it('uses a nonce up once', async () => {
    const [create = '', insert = ''] = noncesSample.split(/(?<=;)\n/);
    await query(create);
    const insertNonce = () => query(insert, ['AAECAwQFBgcICQoLDA0ODw', 1_767_225_960]);
    expect((await insertNonce()).numAffectedRows).toBe(1n);
    expect((await insertNonce()).numAffectedRows).toBe(0n);
  });

  it('sets the timeouts that we ask Postgres for ourselves', async () => {
    // Rolls the transaction back, because all tests share the role.
    await query(`begin; ${timeoutsSample}`);
    const { rows } = await query("select rolconfig from pg_roles where rolname = 'identity'");
    await query('rollback');
    const timeouts = [`statement_timeout=${statementTimeoutMs}ms`, 'idle_in_transaction_session_timeout=10s'];
    expect(rows).toEqual([{ rolconfig: timeouts }]);
    for (const timeout of timeouts) {
      const [name = '', value] = timeout.split('=');
      expect((await query(`show ${name}`)).rows).toEqual([{ [name]: value }]);
    }
  });
});

describe('the shell', () => {
  // The programs besides npm and node. For npm and node, the test looks up the arguments, too.
  const programs = (
    '. apt-get cd chmod chown chronyc cp curl diff docker echo export git haproxy hash install journalctl kubectl ln nginx npx openssl php psql ' +
    'read runuser sed set sha256sum sleep sudo systemctl tar test tr umask useradd'
  ).split(' ');
  const { scripts } = JSON.parse(readOurFile('package.json'));
  const commands = commandSamples.flatMap(({ document, code }) =>
    code
      .replaceAll('\\\n', ' ')
      .split(/\n|&&|;|\|/)
      .map((command) => command.trim().replace(/^(?:until |do |[A-Z_]+=\$\()/, ''))
      .filter((command) => !['', 'done'].includes(command) && !command.startsWith('#'))
      .map((command) => [command, document] as const),
  );

  it.each(commands)('calls what is there: %s, in %s', (command) => {
    const [program = '', ...args] = command.split(/\s+/).filter((word) => !/^[A-Z_]+=/.test(word));
    if (program === 'node') expect(args[0] === '--version' || isOurFile(args[0] ?? '')).toBe(true);
    else if (program === 'npm') {
      const [name = ''] = args.filter((arg) => arg !== 'run' && !arg.startsWith('-'));
      expect(['ci', 'install', 'prune', ...Object.keys(scripts)]).toContain(name);
    } else expect(programs).toContain(program);
  });

  it('is spelt right', async () => {
    for (const { code } of commandSamples) await runShell(`sh -n <<'SAMPLE'\n${code}\nSAMPLE`);
  });
});
