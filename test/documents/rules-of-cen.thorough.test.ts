import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { buildXml } from '../../server/billing/documents/xml.ts';
import { samples } from '../support/billing/document-samples.ts';
import { compileRules, hasRules, judge, notRun } from '../support/billing/document-tools.ts';

describe.skipIf(!hasRules)(
  `${notRun(hasRules, '../shared/en16931')}CEN finds nothing wrong with the XML of`,
  () => {
    let folder: string;
    let compiled: string;
    beforeAll(() => {
      folder = mkdtempSync(join(tmpdir(), 'rules-'));
      compiled = compileRules(folder);
    }, 300_000);
    afterAll(() => rmSync(folder, { recursive: true }));

    it.each(Object.entries(samples))('%s (contract 7.66 and 7.207)', (_, facts) => {
      const { faults, looked } = judge(compiled, buildXml(facts));
      expect(faults).toEqual([]);
      expect(looked).toBeGreaterThan(50);
    });

    it('but would find a wrong total', () => {
      const { faults } = judge(compiled, buildXml({ ...samples['an invoice with tax'], total: 3452 }));
      expect(faults.join()).toContain('BR-CO-15');
    });
  },
);
