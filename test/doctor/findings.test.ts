import { expect, it } from 'vitest';
import { findingIds, groupOf, groups } from '../../clients/doctor/findings.ts';
import { openNotes } from '../../clients/doctor/notes.ts';
import { readOurFile } from '../support/project/documents.ts';

/** The findings of probeEventEffects. */
const needsEvents = (id: string) =>
  /^events_(logout|suspension|deletion|page|order|ended|end|restored|erased|profile)_/.test(id);

const text = readOurFile('docs/doctor.md');

it('docs/doctor.md explains each finding, under the heading that the report has', () => {
  const sections = text.split(/^## /m).map((section) => [section.split('\n')[0], section] as const);
  for (const id of findingIds) {
    const group = groupOf(id);
    // The document lists advice at the end of the group `noticed`.
    const usual = groups[group === 'advice' ? 'noticed' : group];
    const heading = needsEvents(id) ? 'With `--events`' : usual;
    const [, section = ''] = sections.find(([title]) => title === heading) ?? [];
    expect(section, id).toContain(`\`${id}\``);
  }
});

it('docs/doctor.md explains only findings that exist', () => {
  const explained = [...text.matchAll(/^\| ((?:`\w+`(?:, )?)+) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/\w+/g)].map(([name]) => name),
  );
  expect(explained.length).toBeGreaterThan(50);
  expect(explained.filter((name) => !(findingIds as string[]).includes(name))).toEqual([]);
});

it('what a client sent reaches the terminal without control characters', () => {
  const notes = openNotes();
  notes.find('callback_cached', { saw: 'It came with "Cache-Control: \u009b2J\u001b[1A".' });
  expect(notes.listFindings()[0]?.saw).toBe('It came with "Cache-Control: �2J�[1A".');
});
