// GET /healthz and GET /readyz (contract 9.136 and 9.137): say whether the process runs, and whether it can serve.
import { isMigrated } from '../../db/migration-status.ts';
import { unavailable } from '../basics/errors.ts';
import type { Dependencies } from '../ground/dependencies.ts';
import { type Health, respondJson } from '../web/answers.ts';
import type { Route } from './route.ts';

export const isHealthPath = (path: string): boolean => /^\/(?:healthz|readyz)$/.test(path);

export function buildHealthRoutes({ db }: Dependencies, isDraining: () => boolean): Route[] {
  const common = { methods: ['GET', 'HEAD'], isPage: false };
  const answerOk = () => respondJson({ status: 'ok' } satisfies Health);
  return [
    { ...common, path: '/healthz', handle: async () => answerOk() },
    {
      ...common,
      path: '/readyz',
      async handle() {
        if (isDraining()) throw unavailable().asExpected();
        if (await isMigrated(db)) return answerOk();
        throw unavailable();
      },
    },
  ];
}
