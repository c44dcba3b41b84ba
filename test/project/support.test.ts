// docs/operate/support.md against the code: who may do what, and which commands there are.
import { expect, it } from 'vitest';
import { rights } from '../support/people/staff.ts';
import { readOurFile } from '../support/project/documents.ts';

it('docs/operate/support.md says who may do what as looks and acts do', () => {
  const rows = readOurFile('docs/operate/support.md').matchAll(
    /^\| [^|]+ \| (\w+) \| (\w+) \| `(\w+\.\w+)` \|/gm,
  );
  const said = [...rows].map(([, manager, admin, name]) => [name, { manager, admin }]);
  expect(said.length).toBe(Object.keys(rights).length);
  expect(Object.fromEntries(said)).toEqual(rights);
});
