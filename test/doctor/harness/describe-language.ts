// The doctor against all clients of one language.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { examine } from '../../../server/doctor/examine.ts';
import { broken, faultNames, faultsOf } from './broken.ts';
import { type Clients, type Language, startClients, targetOf } from './clients.ts';

const longestMs = 10_000;

export function describeLanguage(language: Language, { hasKit }: { hasKit: boolean }): void {
  describe(`the doctor at clients in ${language}`, () => {
    let clients: Clients;
    beforeAll(async () => {
      clients = await startClients(language);
    });
    afterAll(() => clients.stop());

    const run = (name: string) => examine(targetOf(clients.base, name), { fetch, now: () => new Date() });

    it('knows thirty faults', () => {
      expect(faultNames).toHaveLength(30);
    });

    it.each(['right', ...(hasKit ? ['kit'] : [])])('finds nothing at %s', async (name) => {
      const report = await run(name);
      expect(report.findings).toEqual([]);
      expect(report.unseen).toEqual([]);
      expect(report).toMatchObject({ verdict: 'right', holdsSecrets: [1] });
    });

    // Again where something else keeps the machine busy.
    it('takes less than ten seconds', { retry: 3 }, async () => {
      expect((await run('right')).tookMs).toBeLessThan(longestMs);
    });

    it.each(faultNames)('finds %s', async (name) => {
      const report = await run(name);
      expect(faultsOf(report)).toEqual([name, ...(broken[name] ?? [])].sort());
      expect(report.verdict).toBe('wrong');
    });
  });
}
