// A whole small site that accepts hand-offs, with no fault. Each stranger is this site with one thing done in another way, so
// each step is a method.
import { Logins } from './logins.ts';
import { escapeHtml, isSpeculative, type Question, Refusal, type Reply, redirect, showHtml } from './web.ts';

export class Site extends Logins {
  async answer(question: Question): Promise<Reply> {
    const { page, method } = question;
    if (page === 'events') return this.takeNudge(question);
    if (page === 'login' || page === 'callback' || page === 'logout') {
      if (isSpeculative(question)) return { status: 204 };
      if (method !== 'GET' && !(page === 'logout' && method === 'POST'))
        return this.refuse(question, new Refusal('method_not_allowed'));
    } else if (method !== 'GET' && method !== 'HEAD') return { status: 405, headers: { Allow: 'GET, HEAD' } };
    switch (page) {
      case '':
        return this.showHome(question);
      case 'login':
        return this.startLogin(question);
      case 'callback':
        return this.takeCallback(question);
      case 'logout':
        return this.logOut(question);
      case 'account':
        return this.showAccount(question);
      default:
        return this.showMore(question);
    }
  }

  protected showHome({ cookies }: Question): Reply {
    const person = this.findSession(cookies)?.person;
    if (!person)
      return showHtml(
        200,
        'Shop',
        `<p>Nobody is logged in.</p><p><a href="${this.home}login">Log in</a></p>`,
      );
    const { id, name, role, capabilities } = person;
    const words = `<p>You are logged in as <b>${escapeHtml(name)}</b>, user ${id} (${role}).</p>
<p>You may: ${escapeHtml(capabilities.join(', ')) || 'look around'}.</p>
<p><a href="${this.home}account">Your account</a> <a href="${this.home}logout">Log out</a></p>`;
    return showHtml(200, 'Shop', words);
  }

  protected showAccount({ cookies }: Question): Reply {
    const person = this.findSession(cookies)?.person;
    if (!person) return redirect(`${this.home}login?return_to=${encodeURIComponent(`${this.home}account`)}`);
    const words = `<p>${escapeHtml(person.name)}, user ${person.id}, ${escapeHtml(person.email)}</p>
<p><a href="${this.home}">Home</a></p>`;
    return showHtml(200, 'Your account', words);
  }

  protected showMore(_question: Question): Reply {
    return showHtml(404, 'There is no such page', `<p><a href="${this.home}">Home</a></p>`);
  }
}
