/** Shown beside the button that adds a factor, if the user first used this browser less than a week ago (contract 2.21). */
export function NewBrowserNote({ what, email }: { what: string; email: string }) {
  return (
    <p>
      You have used this browser with your account for less than a week. For the next 7 days, {what} can be
      removed with a link that we will email to <strong>{email}</strong>.
    </p>
  );
}
