// GET /.well-known/passkey-endpoints: tells password managers where people add or manage a passkey
// (https://www.w3.org/TR/passkey-endpoints/).
import type { Dependencies } from '../../ground/dependencies.ts';
import { respondJson } from '../../web/answers.ts';

export const passkeyEndpoints = ({ config: { baseUrl } }: Dependencies): Response =>
  respondJson({ enroll: `${baseUrl}/profile/passkeys/add`, manage: `${baseUrl}/profile/passkeys` });
