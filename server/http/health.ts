// GET /healthz and GET /readyz (contract section 9): whether the process runs, and whether it can serve.
import { isMigrated } from '../../db/postgres/migrate.ts';
import { unavailable } from '../errors.ts';
import type { Services } from '../services.ts';
import { type Health, respondJson } from './answers.ts';
import type { Route } from './route.ts';

export function buildHealthRoutes({ db }: Services, isDraining: () => boolean): Route[] {
  const common = { methods: ['GET', 'HEAD'], isPage: false };
  const ok: Health = { status: 'ok' };
  const answerOk = () => respondJson(ok);
  return [
    { ...common, path: '/healthz', handle: async () => answerOk() },
    {
      ...common,
      path: '/readyz',
      async handle() {
        if (!isDraining() && (await isMigrated(db))) return answerOk();
        throw unavailable();
      },
    },
  ];
}
