// Keeps in a row how far the events were applied. One pull at a time holds the row. As a sign of life, this pull keeps raising
// a number in the row. If the number has not changed for long enough, another pull takes over. So no clock is compared with
// another.
import type { Sql } from './sql-stores.ts';
import type { Claim, PositionStore } from './stores.ts';

const signEveryMs = 2_000;
const lookEveryMs = 200;
/** How long a pull waits for another pull that is at work. */
const waitMs = 3_000;
/** If the number has not changed for this long, another pull takes over. A pull that works does not pause for so long. */
const deadAfterMs = 20_000;
/**
 * At most this much time is counted between two reads of the row. If a read takes longer, the database is slow, and the other
 * pull's writes may be slow, too.
 */
const maxBetweenLooksMs = 1_000;

export function createSqlPosition({ read, change: count, insert }: Sql): PositionStore {
  async function look() {
    const [row] = await read("select seq, holder, signs from @position where name = 'events'");
    if (!row) throw new Error('The row with the position of the events is gone.');
    return { seq: Number(row.seq), holder: String(row.holder), signs: Number(row.signs) };
  }

  /** Takes the row if its number is still `signs`. */
  async function take(signs: number, holder: string): Promise<boolean> {
    const update = "update @position set holder = ?, signs = signs + 1 where name = 'events' and signs = ?";
    return (await count(update, holder, signs)) === 1;
  }

  /** False if another pull has taken over. */
  async function change(holder: string, changes: string, ...values: (string | number)[]): Promise<boolean> {
    const update = `update @position set ${changes}, signs = signs + 1 where name = 'events' and holder = ?`;
    return (await count(update, ...values, holder)) === 1;
  }

  function hold(holder: string, position: number): Claim {
    // An error here is ignored. If it lasts, storing the next position fails, too, and reports it.
    const giveSign = () => change(holder, 'holder = holder').catch(() => {});
    const timer = setInterval(giveSign, signEveryMs);
    return {
      position,
      advance: (to) => change(holder, 'seq = ?', to),
      async release() {
        clearInterval(timer);
        await change(holder, "holder = ''");
      },
    };
  }

  return {
    async claim() {
      await insert("@position (name, seq, holder, signs) values ('events', 0, '', 0)");
      const holder = crypto.randomUUID();
      let seen = await look();
      for (let [waited, still] = [0, 0]; ; ) {
        const isFree = seen.holder === '' || still >= deadAfterMs;
        if (isFree && (await take(seen.signs, holder))) return hold(holder, seen.seq);
        // The number has changed a short time ago, so the other pull is at work.
        if (waited >= waitMs && still < waitMs) return undefined;
        const lookedAt = performance.now();
        await new Promise((done) => setTimeout(done, lookEveryMs));
        const next = await look();
        const passed = Math.min(performance.now() - lookedAt, maxBetweenLooksMs);
        waited += passed;
        still = next.signs === seen.signs ? still + passed : 0;
        seen = next;
      }
    },
  };
}
