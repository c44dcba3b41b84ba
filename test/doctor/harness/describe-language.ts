// The doctor against the clients of PHP or Python. In the short form each language has half of the faults. TypeScript has all
// faults.
import { describe, expect, it } from 'vitest';
import { examine } from '../../../clients/doctor/examine.ts';
import { byForm } from '../../support/faults/faults.ts';
import { shared } from '../../support/run/shared.ts';
import { faultNames, faultsOf } from './broken.ts';
import { type Language, startClients, targetOf } from './clients.ts';

export function describeLanguage(language: Language): void {
  describe(`the doctor at clients in ${language}`, () => {
    const clients = shared(() => startClients(language));

    const run = (name: string) => examine(targetOf(clients.base, name), { fetch, now: () => new Date() });

    it.each(['right', 'kit'])('finds nothing at %s', async (name) => {
      const report = await run(name);
      expect(report.findings).toEqual([]);
      // The pages in PHP and Python show no role.
      expect(report.unseen.filter(({ id }) => id !== 'role_kept')).toEqual([]);
      expect(report).toMatchObject({ verdict: 'right', holdsSecrets: [1] });
    });

    const half = language === 'php' ? 0 : 1;
    const chosen = faultNames.filter((_, at) => byForm({ short: at % 2 === half, long: true }));
    it.each(chosen)('finds %s', async (name) => {
      let report = await run(name);
      // PHP's own web server may give all connections to one of its workers. Then no two requests meet, so this tries again.
      for (let tries = 1; tries < 5 && name === 'nonce_not_atomic' && report.verdict === 'right'; tries++)
        report = await run(name);
      expect(faultsOf(report)).toEqual([name]);
      expect(report.verdict).toBe('wrong');
    });
  });
}
