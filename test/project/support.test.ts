// docs/operate/support.md against the code: who may do what, and which commands there are.
import { expect, it } from 'vitest';
import { rights } from '../../server/acts/rights.ts';
import { readOurFile } from '../support/project/documents.ts';

it('docs/operate/support.md says who may do what as server/acts/rights.ts does', () => {
  const rows = readOurFile('docs/operate/support.md').matchAll(
    /^\| [^|]+ \| (\w+) \| (\w+) \| `(\w+\.\w+)` \|/gm,
  );
  const said = [...rows].map(([, manager, admin, name]) => [name, { manager, admin }]);
  const inForce = Object.entries(rights).map(([name, { manager, admin }]) => [name, { manager, admin }]);
  expect(said).toEqual(inForce);
});
