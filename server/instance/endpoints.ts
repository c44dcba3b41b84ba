import { brandFile, favicon } from '../doors/endpoints/brand-file.ts';
import { crmContracts } from '../doors/endpoints/crm-contracts.ts';
import { crmSignups } from '../doors/endpoints/crm-signups.ts';
import { documentFile, staffDocumentFile } from '../doors/endpoints/document-file.ts';
import { downloadData } from '../doors/endpoints/download-data.ts';
import { keptMail } from '../doors/endpoints/kept-mail.ts';
import { launch } from '../doors/endpoints/launch.ts';
import { marketplaceCallback } from '../doors/endpoints/marketplace-callback.ts';
import { oauthAuthorize } from '../doors/endpoints/oauth-authorize.ts';
import { oauthDiscovery, oauthKeys } from '../doors/endpoints/oauth-discovery.ts';
import { oauthLogout } from '../doors/endpoints/oauth-logout.ts';
import { oauthToken } from '../doors/endpoints/oauth-token.ts';
import { oauthUserinfo } from '../doors/endpoints/oauth-userinfo.ts';
import { passkeyEndpoints } from '../doors/endpoints/passkey-endpoints.ts';
import { passkeyOptions } from '../doors/endpoints/passkey-options.ts';
import { paymentInvoices } from '../doors/endpoints/payment-invoices.ts';
import { payments } from '../doors/endpoints/payments.ts';
import { type SamplePlace, sampleFile } from '../doors/endpoints/sample-file.ts';
import { securityTxt } from '../doors/endpoints/security-txt.ts';
import { ssoEvents } from '../doors/endpoints/sso-events.ts';
import { ssoProfile } from '../doors/endpoints/sso-profile.ts';
import { type FilePlaces, staffFile } from '../doors/endpoints/staff-file.ts';
import { openApi } from '../doors/openapi/answer.ts';
import type { createPublished } from '../doors/openapi/document.ts';
import { handleTrpc } from '../doors/trpc/router.ts';
import type { HeldRequests } from '../events/hold-requests.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import type { Visit } from '../web/requests.ts';

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
  const samplePlace: SamplePlace = { isTaken: false };
  return {
    launch: bind(launch),
    ssoProfile: bind(ssoProfile),
    ssoEvents: (request: Request, visit: Visit) => ssoEvents(deps, heldRequests, request, visit),
    oauthAuthorize: bind(oauthAuthorize),
    oauthLogout: bind(oauthLogout),
    oauthDiscovery: bind(oauthDiscovery),
    oauthKeys: bind(oauthKeys),
    oauthToken: bind(oauthToken),
    oauthUserinfo: bind(oauthUserinfo),
    marketplaceCallback: bind(marketplaceCallback),
    crmSignups: bind(crmSignups),
    crmContracts: bind(crmContracts),
    payments: bind(payments),
    paymentInvoices: bind(paymentInvoices),
    passkeyOptions: bind(passkeyOptions),
    passkeyEndpoints: bind(passkeyEndpoints),
    trpc: bind(handleTrpc),
    downloadData: bind(downloadData),
    documentFile: bind(documentFile),
    staffDocumentFile: bind(staffDocumentFile),
    staffFile: (request: Request, visit: Visit, asked: { name: string }) =>
      staffFile(deps, filePlaces, request, visit, asked),
    sampleFile: (request: Request, visit: Visit) => sampleFile(deps, samplePlace, request, visit),
    brandFile: bind(brandFile),
    favicon: bind(favicon),
    keptMail: bind(keptMail),
    securityTxt: bind(securityTxt),
    openApi: async (request: Request) => openApi(await publish(), request),
  };
}
