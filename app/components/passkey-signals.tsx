import scriptUrl from '../passkeys/signals.ts?worker&url';

/** What a page of somebody who is logged in tells the browser, by the names of the library that passes it on. */
type OwnPasskeys = {
  userID: string;
  userName: string;
  userDisplayName: string;
  allAcceptedCredentialIDs: string[];
};

/** Tells the browser which passkeys work, or without `own`, that nobody has the one that was just used (contract 9.362). */
export function PasskeySignals({ own }: { own?: OwnPasskeys }) {
  const signals = own
    ? [
        { signalName: 'allAcceptedCredentials', ...own },
        { signalName: 'currentUserDetails', ...own },
      ]
    : [{ signalName: 'unknownCredential' }];
  return (
    <div hidden data-passkey-signals={JSON.stringify(signals)}>
      <script type="module" src={scriptUrl} />
    </div>
  );
}
