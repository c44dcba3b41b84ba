// Deals with VAT ids that nobody has checked: asks VIES about them, and tells administrators (contract 7.483 to 7.489, and
// 9.380).
import type { Transaction } from 'kysely';
import { inTransaction } from '../../../db/postgres/transactions.ts';
import type { DB } from '../../../db/schema.ts';
import { findAccountName } from '../../../db/tables/accounts.ts';
import { deferAuditEvent } from '../../../db/tables/audit-events.ts';
import {
  askAboutVatIdAgain,
  claimVatIdToAsk,
  decideVatId,
  lockBillingDetails,
  type VatIdToAsk,
} from '../../../db/tables/billing-details.ts';
import { listAdmins } from '../../../db/tables/deletions.ts';
import { countVatIdsToCheck } from '../../../db/tables/invoice-lists.ts';
import { deferMail, hasRecentMail, lockVatIdMails } from '../../../db/tables/mails.ts';
import { findBillingPause } from '../../../db/tables/restores.ts';
import { insertVatCheck } from '../../../db/tables/vat-checks.ts';
import { daysAfter } from '../../basics/instant.ts';
import type { Dependencies } from '../../ground/dependencies.ts';
import { findSettings } from './issue.ts';
import { listReverseCountries } from './tax.ts';
import { askVies, type ViesAnswer, viesUrl } from './vies.ts';

type Deps = Pick<Dependencies, 'config' | 'db' | 'now' | 'log'>;

/**
 * In one run, an instance asks about at most this many VAT ids, so that the run ends soon even if VIES does not answer in time.
 */
const asksPerRun = 5;
const leaseMs = 60_000;
const askAgainMs = 15 * 60_000;
const msAfter = (at: Date, ms: number) => new Date(at.getTime() + ms);

/** Any number of instances may run this at the same time. */
export async function lookAfterVatIds(deps: Deps, signal?: AbortSignal, url = viesUrl): Promise<void> {
  const { config, db } = deps;
  const seller = (await findSettings(db))?.settings.seller;
  const countries = listReverseCountries(seller);
  if (countries.length === 0 || (await findBillingPause(db))) return;
  if (config.vatCheck === 'vies' && seller?.vat_id)
    await askAboutAll(deps, { countries, askedBy: seller.vat_id, url, signal });
  if (signal?.aborted) return;
  await inTransaction(db, { by: 'service', cause: 'billing' }, (trx) =>
    tellAdministrators(trx, deps, countries),
  );
}

type Asking = { countries: string[]; askedBy: string; url: string; signal: AbortSignal | undefined };

async function askAboutAll(deps: Deps, { countries, askedBy, url, signal }: Asking): Promise<void> {
  const { db, now, log } = deps;
  for (let asked = 0; asked < asksPerRun && !signal?.aborted; asked++) {
    const claimed = await claimVatIdToAsk(db, {
      countries,
      now: now(),
      leaseEndsAt: msAfter(now(), leaseMs),
    });
    if (!claimed) return;
    const answer = await askVies(url, { ...claimed, askedBy }, signal).catch((error: Error) => {
      log.info(
        { accountId: claimed.accountId, failure: error.message },
        'VIES gave no answer about a VAT id',
      );
    });
    if (signal?.aborted) return;
    if (!answer) await askAboutVatIdAgain(db, claimed, msAfter(now(), askAgainMs));
    else
      await inTransaction(db, { by: 'service', cause: 'billing' }, (trx) =>
        keepAnswer(trx, claimed, { answer, askedBy, askedAt: now() }),
      );
  }
}

/**
 * Decides about the VAT id if the answer is clear. “Valid” is clear only if VIES gives or confirms the buyer's name, because
 * anybody can type a stranger's VAT id.
 */
async function keepAnswer(
  trx: Transaction<DB>,
  { accountId, vatId, name, userId }: VatIdToAsk,
  { answer, askedBy, askedAt }: { answer: ViesAnswer; askedBy: string; askedAt: Date },
): Promise<void> {
  const details = await lockBillingDetails(trx, accountId);
  // The details have changed while VIES was asked, so the answer is about another VAT id or name. VIES is asked again when the
  // lease ends.
  if (details.vatId !== vatId || (details.company ?? (await findAccountName(trx, accountId))) !== name)
    return;
  const { hasName, ...kept } = answer;
  await insertVatCheck(trx, { ...kept, accountId, vatId, askedBy, askedAt });
  await askAboutVatIdAgain(trx, { accountId, vatId }, 'never');
  // An administrator may have decided while VIES was asked. An answer “valid” that does not confirm the name decides nothing.
  if (details.hasCheckedVatId || details.hasRefusedVatId || (kept.isValid && !hasName)) return;
  await decideVatId(trx, { accountId, vatId, isChecked: kept.isValid });
  const checked = kept.isValid ? 'yes' : 'no';
  deferAuditEvent(trx, {
    type: 'vat_id.checked',
    ...(userId && { userId }),
    details: { checked, ...(kept.consultation && { consultation: kept.consultation }) },
  });
}

/** Each administrator gets at most one mail in 24 hours. */
async function tellAdministrators(
  trx: Transaction<DB>,
  { config, now }: Deps,
  countries: string[],
): Promise<void> {
  // If the settings use VIES, administrators get mails only about VAT ids for which VIES gave no clear answer.
  const asking = config.vatCheck === 'vies' ? { now: now(), until: msAfter(now(), leaseMs) } : undefined;
  const count = await countVatIdsToCheck(trx, 1, countries, asking);
  if (count === 0 || !(await lockVatIdMails(trx))) return;
  const kind = 'vat_ids_to_check';
  for (const { id: userId, email: recipient } of await listAdmins(trx))
    if (!(await hasRecentMail(trx, { userId, kind, since: daysAfter(now(), -1) })))
      deferMail(trx, { kind, userId, recipient, details: { foundAt: now().toISOString() }, now: now() });
}
