/** Beside the button that adds a factor in a browser that is not established. */
export function NewBrowserNote({ what, email }: { what: string; email: string }) {
  return (
    <p>
      We have known this browser for less than a week. So for seven days, {what} can be removed again with a
      link that we email to <strong>{email}</strong>.
    </p>
  );
}
