// Comments, names of tests and documents are in natural English. Each row has a form that reads as translated, and a sentence
// that it refuses.
import { expect, it } from 'vitest';
import { readAllSources } from '../support/project/documents.ts';
import { readProse } from '../support/project/prose.ts';

const forms: [RegExp, string][] = [
  [/\bwho(?:m)?ever\b/i, 'It counts whoever asks.'],
  [/\bwhat of\b/i, 'It says what of it is left.'],
  [/\bof which\b/i, 'Ten mails, of which two wait.'],
  [/\bthose (?:that|who)\b/i, 'It deletes those that have expired.'],
  [/\bthat which\b/i, 'It keeps that which was typed.'],
  [/(?:^|[.:] )Where (?!is |are |do |does |to )[^.?]*, /, 'Where a second factor is required, it asks.'],
  [
    /(?:^|\. )Who (?:\w+ )+(?:asks|gets|needs|sees|must|may|can)\b/,
    'Who has lost the app asks the operator.',
  ],
  [
    /(?:^|\. )(?:Are|Is|Has|Have|Were|Was) (?:there|it|they|a|the|one)\b[^?.]*,/,
    'Are there more, it says so.',
  ],
  [/(?:^|\. )The same\b[,.]/, 'The same, with the attachment.'],
  [/(?:^|\. )As (?:those|that|these)\b[^,]*\./, 'As those.'],
  [/(?:^|\. )Of (?:a|an|the|what|those|one)\b[^,.]*, (?!too)/, 'Of a payment, what is left of it.'],
  [/\bHowever \w+ (?:the|it|they|a)\b/, 'However late the job is.'],
  [/\b(?:none|nobody) but\b/i, 'Nobody but the owner reads it.'],
  [/\bthe (?:former|latter)(?:[.,:;]| is\b)/i, 'The key and its digest: the latter is stored.'],
  [/\bbe it\b/i, 'Every kit, be it in PHP or Python.'],
  [/\bwhatever is\b/i, 'Whatever is rounded is rounded up.'],
  [/\b(?:there|where|here)(?:of|in|by|upon)\b/i, 'The key and the digest thereof.'],
  [/\b(?:whence|thence|hence)\b/i, 'It is null, hence skipped.'],
  [/\b(?:in order|so as) to\b/i, 'It waits in order to save time.'],
  [/\bas long as it is there\b/i, 'The row counts as long as it is there.'],
];

it('reads as written, not as translated', () => {
  const found = readAllSources()
    .filter(({ path }) => !/^(?:test\/project\/prose|CHANGELOG|db\/(?:schema|migrations))/.test(path))
    .flatMap(({ path, text }) =>
      readProse(path, text).flatMap((prose) =>
        forms.filter(([form]) => form.test(prose)).map(([form]) => `${path}: ${form} in "${prose}"`),
      ),
    );
  expect(found).toEqual([]);
});

it.each(forms)('%s would be found', (form, sentence) => {
  expect(forms.filter(([each]) => each.test(sentence)).map(([each]) => each)).toContain(form);
  for (const [path, text] of [
    ['a.ts', `// It is a list.\n// ${sentence}\nconst a = 1;`],
    ['a.ts', `/**\n * It is a list. ${sentence}\n */`],
    ['test/a.test.ts', `it('${sentence}', () => {});`],
    ['a.md', `# Title\n\nIt is a list.\n\n- **9.1** ${sentence}`],
  ] as const)
    expect(readProse(path, text).filter((prose) => form.test(prose))).toHaveLength(1);
});
