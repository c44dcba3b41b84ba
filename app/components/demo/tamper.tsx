import { Section } from '../section.tsx';

/** Replaces the character in the middle with `a` or `b`. Both a payload and a signature may contain these letters. */
function changeOne(text: string): string {
  const at = Math.floor(text.length / 2);
  return text.slice(0, at) + (text[at] === 'a' ? 'b' : 'a') + text.slice(at + 1);
}

const longAfter = '3600';

/** Sends the hand-off a second time: unchanged, changed, or late. */
export function Tamper({ client, query }: { client: string; query: string }) {
  const params = new URLSearchParams(query);
  const [payload, signature] = [params.get('payload') ?? '', params.get('signature') ?? ''];
  const link = (changes: Record<string, string>) =>
    `/demo/${client}/callback?${new URLSearchParams({ payload, signature, ...changes })}`;
  return (
    <Section id="tamper" title="Try to cheat">
      <p>This is the hand-off as it arrived. Each button sends it again, and this client refuses it.</p>
      <div className="actions">
        <a className="button quiet" href={link({})}>
          Replay it
        </a>
        <a className="button quiet" href={link({ payload: changeOne(payload) })}>
          Change a character in the payload
        </a>
        <a className="button quiet" href={link({ signature: changeOne(signature) })}>
          Change a digit in the signature
        </a>
        <a className="button quiet" href={link({ wait_seconds: longAfter })}>
          Wait an hour
        </a>
      </div>
      <form method="get" action={`/demo/${client}/callback`}>
        <div className="field">
          <label htmlFor="tamper-payload">payload</label>
          <textarea id="tamper-payload" name="payload" rows={5} defaultValue={payload} spellCheck={false} />
        </div>
        <div className="field">
          <label htmlFor="tamper-signature">signature</label>
          <textarea
            id="tamper-signature"
            name="signature"
            rows={2}
            defaultValue={signature}
            spellCheck={false}
          />
        </div>
        <button type="submit" className="quiet">
          Send your edits
        </button>
      </form>
    </Section>
  );
}
