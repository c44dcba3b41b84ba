// The part of a person's page that is the same on all tabs: the acts about the account as a whole, and the tabs.
import { useContext } from 'react';
import type { Place } from '../../../server/staff/form-words.ts';
import { useRefused } from '../refused.ts';
import { Acts, ActsContext, isOf } from './acts.tsx';
import { Tabs } from './tabs.tsx';
import { personPath } from './words.tsx';

type Tab = 'login' | 'billing' | 'rights' | 'activity' | 'mails' | 'products';

/** The tabs of the page, and the places of the forms that each tab shows. A path without a tab shows the first tab. */
export const tabs: Record<Tab, { title: string; places: Place[] }> = {
  login: { title: 'Login', places: ['notes', 'note', 'login', 'session', 'link'] },
  billing: { title: 'Billing', places: ['billing', 'contract'] },
  rights: { title: 'Rights', places: ['rights'] },
  activity: { title: 'Activity', places: [] },
  mails: { title: 'Mails', places: [] },
  products: { title: 'Products', places: [] },
};

/** `part` is what follows the person's id in the path. */
export const findTab = (part: string | undefined): Tab | undefined =>
  (Object.keys(tabs) as Tab[]).find((tab) => part === (tab === 'login' ? undefined : tab));

const pathOf = (id: string, tab: Tab) => personPath(id) + (tab === 'login' ? '' : `/${tab}`);

const ends = ['resume', 'thaw', 'keep'];
/**
 * The acts that have their own button. Acts that end a state, such as a suspension, come first. Then come the acts for which
 * people call support most often.
 */
const foremost = [...ends, 'send-mail', 'end-sessions'];

export function PersonHead({ id, current }: { id: string; current: Tab }) {
  const refused = useRefused();
  const forms = useContext(ActsContext).forms.filter(({ at }) => at === 'head');
  const first = forms
    .filter(({ intent }) => foremost.includes(intent))
    .sort((one, other) => foremost.indexOf(one.intent) - foremost.indexOf(other.intent))
    .slice(0, Math.max(2, forms.filter(({ intent }) => ends.includes(intent)).length));
  const pages = (Object.keys(tabs) as Tab[]).map((tab) => ({ path: pathOf(id, tab), ...tabs[tab] }));
  const others = forms.filter((form) => !first.includes(form));
  return (
    <>
      {forms.length > 0 && (
        <div className="head-acts acts">
          <Acts forms={first} isBare />
          {others.length > 0 && (
            <details className="disclosure" open={others.some((form) => isOf(refused, form))}>
              <summary className="button quiet">
                <span aria-hidden="true">…</span>
                <span className="visually-hidden">More</span>
              </summary>
              <div className="disclosure-inside">
                <Acts forms={others} />
              </div>
            </details>
          )}
        </div>
      )}
      <Tabs label="About the person" pages={pages} current={pathOf(id, current)} />
    </>
  );
}
