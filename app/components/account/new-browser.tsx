/** Beside the button that adds a factor in a browser that is not established. */
export function NewBrowserNote({ what, email }: { what: string; email: string }) {
  return (
    <p className="hint">
      You have not used this browser for a week yet. So for seven days, {what} can be removed again with a
      link that we email to <strong>{email}</strong>.
    </p>
  );
}
