// docs/operate/support.md agrees with the code on who may do what, and on the commands that exist.
import { expect, it } from 'vitest';
import { rights } from '../support/people/staff.ts';
import { readOurFile } from '../support/project/documents.ts';

it('docs/operate/support.md and clients.md say who may do what as looks and acts do', () => {
  const files = ['docs/operate/support.md', 'docs/operate/clients.md'];
  const rows = files
    .map(readOurFile)
    .join('\n')
    .matchAll(/^\| [^|]+ \| (\w+) \| (\w+) \| `(\w+\.\w+)` \|/gm);
  const said = [...rows].map(([, manager, admin, name]) => [name, { manager, admin }]);
  expect(said.length).toBe(Object.keys(rights).length);
  expect(Object.fromEntries(said)).toEqual(rights);
});
