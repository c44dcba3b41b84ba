// A server that behaves like the REST interface of VIES: the shapes of its answers are those of the real one.
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ViesRequest = {
  countryCode: string;
  vatNumber: string;
  requesterMemberStateCode?: string;
  requesterNumber?: string;
  traderName?: string;
};

/** What the server answers, or how it fails. */
type Verdict = { status?: number; body: object | string } | 'hangs' | 'drops';

let serial = 0;

/** An answer of VIES about a VAT id that a country knows, or does not know. */
export const knows = (
  { countryCode, vatNumber, requesterNumber }: ViesRequest,
  { valid, ...more }: { valid: boolean; name?: string; address?: string; traderNameMatch?: string },
): Verdict => ({
  body: {
    countryCode,
    vatNumber,
    requestDate: '2026-03-10T10:00:00.000Z',
    valid,
    requestIdentifier: requesterNumber ? `WAPIAAAAtest__${++serial}` : '',
    ...{ name: '---', address: '---', traderName: '---', traderStreet: '---', traderPostalCode: '---' },
    ...{ traderCity: '---', traderCompanyType: '---', traderNameMatch: 'NOT_PROCESSED' },
    ...{ traderStreetMatch: 'NOT_PROCESSED', traderPostalCodeMatch: 'NOT_PROCESSED' },
    ...{ traderCityMatch: 'NOT_PROCESSED', traderCompanyTypeMatch: 'NOT_PROCESSED' },
    ...more,
  },
});

/** VIES fails with status 200 or an error, and says why in `errorWrappers`. */
export const failsWith = (error: string, status = 200): Verdict => ({
  status,
  body: { actionSucceed: false, errorWrappers: [{ error }] },
});

export async function openVies(answer: (asked: ViesRequest) => Verdict) {
  const asked: ViesRequest[] = [];
  const how = {
    answer,
    /** Each answer waits for the promise that this function returns. */
    before: (): Promise<unknown> | undefined => undefined,
  };
  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const question: ViesRequest = JSON.parse(body);
    asked.push(question);
    const isRight = request.method === 'POST' && request.url === '/rest-api/check-vat-number';
    const verdict = isRight ? how.answer(question) : { status: 404, body: 'no such page' };
    if (verdict === 'hangs') return;
    if (verdict === 'drops') {
      response.socket?.destroy();
      return;
    }
    const { status = 200, body: said } = verdict;
    await how.before();
    response.writeHead(status, { 'Content-Type': 'application/json' });
    response.end(typeof said === 'string' ? said : JSON.stringify(said));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    how,
    asked,
    url: `http://127.0.0.1:${port}/rest-api/check-vat-number`,
    async close() {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
}
