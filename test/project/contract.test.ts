// The contract as documents: each line has one rule with a number of its own, and each citation names a rule that exists.
import { describe, expect, it } from 'vitest';
import {
  contractRule,
  countWords,
  findCited,
  readAllSources,
  readCitedRules,
  readCitedSections,
  readContract,
  readLinks,
  readOurFile,
  readRules,
} from '../support/project/documents.ts';

const contract = readContract();
const rules = contract.flatMap(({ text }) => readRules(text));
const sections = contract.map(({ section }) => section);

/** Rules that no test can show: what the service is, and what clients do without the service. */
const unshown = ['1.1', '1.4'];

/** Returns what is wrong with the text of a section: lines that are not rules, and wrong numbers. */
function findFaults(section: number, text: string): string[] {
  const numbers = readRules(text);
  const twice = numbers.filter((number, at) => numbers.indexOf(number) !== at);
  const strange = numbers.filter((number) => !number.startsWith(`${section}.`));
  // Each line is a heading, a rule, or one of the first two rows of a table, whose first column is the number.
  const form = /^(?:#{1,2} \S.*|\| Rule \|.*|\|(?:---\|)+)?$/;
  const others = text
    .replaceAll(/^```json\n[\s\S]*?^```$/gm, '')
    .split('\n')
    .filter((line) => !form.test(line) && !contractRule.test(line));
  return [...twice, ...strange, ...others];
}

/** Returns the rules and sections that a text cites and that do not exist. */
function findDead(text: string, word?: 'rules?'): string[] {
  const deadRules = readCitedRules(text, word).filter((rule) => !rules.includes(rule));
  const deadSections = readCitedSections(text).filter((section) => !sections.includes(section));
  return [...deadRules, ...deadSections.map((section) => `section ${section}`)];
}

describe('the contract', () => {
  it('has a file for each section, all of them in its index, in their order', () => {
    expect(contract.map(({ title }) => title).join(' ')).toBe('1 2 3 4 5 6 7 7a 7b 8 9 10 11 12 13 14');
    for (const { title, text } of contract) expect(text).toMatch(new RegExp(`^# ${title}\\. \\S`));
    const linked = readLinks(readOurFile('docs/contract/README.md'));
    expect(linked.map((name) => `docs/contract/${name}`)).toEqual(contract.map(({ path }) => path));
  });

  it('has no number in two files', () => {
    expect(rules.filter((number, at) => rules.indexOf(number) !== at)).toEqual([]);
  });

  it.each(contract.map(({ path, section, text }) => [path, section, text] as const))(
    'has one rule on each line, with a number that no other has: %s',
    (_, section, text) => {
      expect(readRules(text).length).toBeGreaterThan(3);
      expect(findFaults(section, text)).toEqual([]);
    },
  );

  it('has at most 40 words in a rule', () => {
    const long = contract.flatMap(({ text }) =>
      text.split('\n').filter((line) => contractRule.test(line) && countWords(line) > 40),
    );
    expect(long).toEqual([]);
  });

  it('is shown by tests, rule by rule', () => {
    const cited = new Set(
      readAllSources()
        .filter(({ path }) => path.startsWith('test/') && path !== 'test/project/contract.test.ts')
        .flatMap(({ text }) => findCited(text, rules)),
    );
    expect(rules.filter((rule) => !cited.has(rule))).toEqual(unshown);
  });

  it.each([
    ['a number twice', '- **2.1** One.\n- **2.2** Two.\n- **2.1** Three.', '2.1'],
    ['a number twice, once in a table', '- **2.1** One.\n\n| Rule | Case |\n|---|---|\n| 2.1 | two |', '2.1'],
    ['a number of another section', '- **3.1** One.', '3.1'],
    ['a rule without a number', '- One.', '- One.'],
    ['a row without a number', '| one | two |', '| one | two |'],
    ['a rule that goes on in the next line', '- **2.1** One,\n  and two.', '  and two.'],
    ['a rule below a rule', '- **2.1** One:\n  - **2.2** Two.', '  - **2.2** Two.'],
    ['a paragraph', 'One.', 'One.'],
    ['a number without a rule', '- **2.1**', '- **2.1**'],
  ])('would be refused with %s', (_, text, fault) => {
    expect(findFaults(2, `# 2. People\n\n${text}\n`)).toEqual([fault]);
  });
});

describe('a citation of the contract', () => {
  it('names a rule or section that exists', () => {
    const sources = readAllSources();
    expect(sources.flatMap(({ text }) => readCitedRules(text)).length).toBeGreaterThan(100);
    expect(sources.flatMap(({ text }) => readCitedSections(text)).length).toBeGreaterThan(10);
    expect(
      sources.flatMap(({ path, text }) => findDead(text).map((dead) => `${path}: contract ${dead}`)),
    ).toEqual([]);
  });

  it('in the contract itself, too', () => {
    expect(contract.flatMap(({ text }) => readCitedRules(text, 'rules?')).length).toBeGreaterThan(50);
    expect(
      contract.flatMap(({ path, text }) => findDead(text, 'rules?').map((dead) => `${path}: ${dead}`)),
    ).toEqual([]);
  });

  it.each([
    [['9.999'], '9.999'],
    [['9.0'], '9.0.'],
    [['99.1'], '2.1 and 99.1'],
    [['2.999'], '2.1 to 2.999'],
    [['2.999', '9.999'], '2.1, 2.999 to 9.1 and 9.999'],
    [['2.999'], '2.1\n// and 2.999'],
    [['2.999'], '2.1\n * and 2.999'],
    [['section 15'], 'section 15'],
    [['section 0', 'section 99'], 'sections 0, 2 and 99'],
    [[], '2.1, 503'],
  ])('would be found dead: %j', (dead, cited) => {
    for (const word of ['contract', 'Contract', 'the [contract', '(contract\n//'])
      expect(findDead(`See ${word} ${cited}`)).toEqual(dead);
  });

  it('has one form: "contract 7.1", or "contract section 7"', () => {
    const others = readAllSources()
      .filter(({ path }) => !path.startsWith('docs/contract/') && path !== 'test/project/contract.test.ts')
      .flatMap(({ path, text }) =>
        [
          ...text.matchAll(
            /contract(?:'s)?(?:\.md`?)?\]?(?:\([^)]*\))?(?:,| §| \(§| rules?) ?(?:sections? )?\d.*|section \d+ of the contract.*/gi,
          ),
        ].map(([found]) => `${path}: ${found}`),
      );
    expect(others).toEqual([]);
  });
});
