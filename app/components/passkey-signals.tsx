import scriptUrl from '../passkeys/signals.ts?worker&url';

/** What a page tells the browser about the person's passkeys. @simplewebauthn/browser prescribes the names of the members. */
type OwnPasskeys = {
  userID: string;
  userName: string;
  userDisplayName: string;
  allAcceptedCredentialIDs: string[];
};

/**
 * Tells the browser which passkeys work. Without `own`, tells the browser instead that nobody here has the passkey that was
 * just used (contract 9.362).
 */
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
