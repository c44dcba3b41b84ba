// Routes receive the backend through Remix's load context; this is its type, everywhere.
import type { RouteContext } from '../server/shell.ts';

declare module '@remix-run/server-runtime' {
  interface AppLoadContext extends RouteContext {}
  interface Future {
    v3_singleFetch: true;
  }
}
