import { readdirSync } from 'node:fs';
import { expect, it } from 'vitest';
import { Refusal, type RefusalCode, refusalStatuses } from '../../clients/typescript/src/index.ts';
import { buildRefusalPage } from '../../clients/typescript/src/refusals.ts';
import { remedies } from '../../clients/typescript/src/remedies.ts';
import { run } from '../support/app/process.ts';
import { checkKitVectors } from '../support/clients/kit-vectors.ts';
import { readOurFile } from '../support/project/documents.ts';
import { readImports } from '../support/project/source-rules.ts';

it('each vector is taken, or refused with its code, alike on Node and on Deno (contract 3.25 to 3.27, 3.29, 3.30, 3.35 and 3.73)', async () => {
  const onNode = await checkKitVectors();
  expect(onNode.filter(({ isRight }) => !isRight)).toEqual([]);
  expect(onNode.length).toBeGreaterThan(400);
  const deno = run('deno', ['test/support/clients/kit-vectors.ts']);
  expect(await deno.exited, deno.output()).toBe(0);
  expect(JSON.parse(deno.output())).toEqual(onNode);
});

it('all kits share the codes and their statuses (contract 3.35)', () => {
  const shared: { code: string; status: number }[] = JSON.parse(readOurFile('clients/refusals.json'));
  expect(refusalStatuses).toEqual(Object.fromEntries(shared.map(({ code, status }) => [code, status])));
});

it('all kits share the sentences that people see', async () => {
  const shared: { code: RefusalCode; person?: string }[] = JSON.parse(readOurFile('clients/refusals.json'));
  const shown = shared.filter(({ person }) => person !== undefined);
  expect(shown.length).toBeGreaterThan(20);
  const homeUrl = 'https://shop.example.test/';
  for (const { code, person } of shown) {
    const page = await buildRefusalPage(new Refusal(code, ''), {
      homeUrl,
      loginUrl: `${homeUrl}login`,
    }).text();
    expect(page, code).toContain(`<p>${person}</p>`);
  }
});

it('the vectors have each code that there is', () => {
  const text = readOurFile('test/sso-vectors.json');
  // This code is about the token of a log-out form, which each kit makes in its own way. So no vector has it.
  const codes = Object.keys(refusalStatuses).filter((code) => code !== 'logout_token_wrong');
  for (const code of codes) expect(text).toContain(`"refusal": "${code}"`);
});

it('the log says what to do in the words that all kits share (contract 13.133)', () => {
  const shared: { code: RefusalCode; remedy: string }[] = JSON.parse(readOurFile('clients/refusals.json'));
  expect(remedies).toEqual(Object.fromEntries(shared.map(({ code, remedy }) => [code, remedy])));
});

it('the kit imports nothing but itself, and uses nothing that only one runtime has', () => {
  const folder = 'clients/typescript/src';
  const files = readdirSync(folder).map((name) => `${folder}/${name}`);
  expect(files).toContain('clients/typescript/src/index.ts');
  for (const file of files) {
    const source = { file, text: readOurFile(file) };
    for (const { target } of readImports(source)) expect(files, file).toContain(target);
    const code = source.text.replace(/^\s*(\/\/|\/?\*).*$/gm, '');
    expect(code, file).not.toMatch(/\b(?:process|Buffer|Deno|require|globalThis)\b/);
  }
});
