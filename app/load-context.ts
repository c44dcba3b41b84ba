// Remix's load context: everything that routes may use of the service.
import type { Problem } from '../server/basics/errors.ts';
import type { Procedures } from '../server/doors/trpc/router.ts';
import type { Backend, Site, Transport } from '../server/instance/backend.ts';
import type { Endpoints } from '../server/instance/endpoints.ts';
import type { Visit } from '../server/web/requests.ts';
import type { Refused } from './refused.ts';

declare module '@remix-run/server-runtime' {
  interface AppLoadContext {
    visit: Visit;
    /** The only access to data about people. The answer carries the headers that procedures set, such as cookies. */
    procedures: Procedures;
    transport: Transport;
    /** What pages show about the service, which is the same for everybody. */
    site: Site;
    /** The other systems that local mode imitates. */
    demo: Backend['demo'];
    /** What only routes without a page may use. */
    endpoints: Endpoints;
    /** The method of the browser's request. After an action, Remix calls the loaders with a GET. */
    method: string;
    /** Whether caches may keep the page, because it is the same for everybody. */
    isPublic?: boolean;
    refused?: Refused | undefined;
    sendsCookies: boolean;
    /** True after the posted form has done its work. */
    isDone?: boolean;
    /**
     * The refusal that the page /problems/{code} shows. This page may answer a request to any URL, so the code cannot be read
     * from the URL.
     */
    problem?: Problem;
    /** The refused request, only for the page /problems/{code}. */
    refusedRequest?: Request;
    /** How long to wait, only for the page /problems/{code}. */
    minutes?: number;
    /** What an action, a loader or a component of a page threw. */
    thrown?: unknown;
  }
  interface Future {
    v3_singleFetch: true;
  }
}
