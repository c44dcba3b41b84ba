// The routes without a page, with what they work with.
import { brandFile } from '../endpoints/brand-file.ts';
import { crmContracts } from '../endpoints/crm-contracts.ts';
import { crmSignups } from '../endpoints/crm-signups.ts';
import { documentFile, staffDocumentFile } from '../endpoints/document-file.ts';
import { downloadData } from '../endpoints/download-data.ts';
import { keptMail } from '../endpoints/kept-mail.ts';
import { launch } from '../endpoints/launch.ts';
import { marketplaceCallback } from '../endpoints/marketplace-callback.ts';
import { openApi } from '../endpoints/openapi.ts';
import { passkeyOptions } from '../endpoints/passkey-options.ts';
import { payments } from '../endpoints/payments.ts';
import { securityTxt } from '../endpoints/security-txt.ts';
import { ssoEvents } from '../endpoints/sso-events.ts';
import { ssoProfile } from '../endpoints/sso-profile.ts';
import { type FilePlaces, staffFile } from '../endpoints/staff-file.ts';
import type { HeldRequests } from '../events/hold-requests.ts';
import type { Visit } from '../http/requests.ts';
import type { createPublished } from '../openapi/document.ts';
import { handleTrpc } from '../trpc/router.ts';
import type { Dependencies } from './dependencies.ts';

export type Endpoints = ReturnType<typeof createEndpoints>;

export function createEndpoints(
  deps: Dependencies,
  { heldRequests, publish }: { heldRequests: HeldRequests; publish: ReturnType<typeof createPublished> },
) {
  const bind =
    <Given extends unknown[], Result>(work: (deps: Dependencies, ...given: Given) => Result) =>
    (...given: Given) =>
      work(deps, ...given);
  const filePlaces: FilePlaces = { taken: 0 };
  return {
    launch: bind(launch),
    ssoProfile: bind(ssoProfile),
    ssoEvents: (request: Request, visit: Visit) => ssoEvents(deps, heldRequests, request, visit),
    marketplaceCallback: bind(marketplaceCallback),
    crmSignups: bind(crmSignups),
    crmContracts: bind(crmContracts),
    payments: bind(payments),
    passkeyOptions: bind(passkeyOptions),
    trpc: bind(handleTrpc),
    downloadData: bind(downloadData),
    documentFile: bind(documentFile),
    staffDocumentFile: bind(staffDocumentFile),
    staffFile: (request: Request, visit: Visit, asked: { name: string }) =>
      staffFile(deps, filePlaces, request, visit, asked),
    brandFile: bind(brandFile),
    keptMail: bind(keptMail),
    securityTxt: bind(securityTxt),
    openApi: async (request: Request) => openApi(await publish(), request),
  };
}
