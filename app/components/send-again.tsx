import { useFormAction } from '@remix-run/react';

/** For a page that says that a mail is on its way. Sends the mail again, or leads back to the form. */
export function SendAgain({ formPath }: { formPath: string }) {
  return (
    <>
      <form method="post" action={useFormAction()} className="aside">
        <button type="submit" name="intent" value="again" className="secondary">
          Send it again
        </button>
      </form>
      <p className="aside">
        <a href={formPath}>Use another address</a>
      </p>
    </>
  );
}
